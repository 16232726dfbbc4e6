"""The file of an analysis: its content, written next to the replay and read again.

`analysis.schema.json` is the JSON schema of the file.
"""

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from asara_game.rules import RULES_VERSION
from asara_search.analysis import VERSION

SUFFIX: Final = ".analysis.json"
LARGEST_FILE: Final = 4 * 2**20
"""Maximum bytes of a file. An ordinary analysis has 100 KiB."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Seat = Annotated[int, Field(ge=0, le=3)]
DrawKind = Literal["deal", "year", "buyers", "lit windows"]
Label = Literal["", "inaccuracy", "mistake", "blunder"]


class AnalysisError(ValueError):
    """Raised for a file that is no analysis of the replay; the text says why."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Value(_Part):
    """A share of a match, such as an expected score or a loss, and its standard error."""

    mean: float
    error: float = Field(ge=0)
    worlds: int = Field(ge=0, description="Number of playouts; 0 if the value is exact.")


class Candidate(_Part):
    """An action that was compared."""

    action: str = Field(description="The action as text, such as `dispatch bank 12`.")
    expected: Value
    pricing: bool = Field(
        description="False if the value comes from the playouts that chose the best action."
    )


class Decision(_Part):
    """A decision of a seat, priced from what the seat knew."""

    seat: Seat
    decision: int = Field(
        ge=0, description="Number of the decision in the protocol; 0 if the seat was not asked."
    )
    step: int = Field(ge=0, description="Position of the action in the seat's reply, from 0.")
    year: int
    kind: str
    chosen: str
    forced: bool = Field(description="True if only one action was legal; nothing else follows.")
    best: str = ""
    expected: Value | None = Field(None, description="Expected score with the best action.")
    loss: Value | None = Field(None, description="What the chosen action cost.")
    label: Label = ""
    candidates: tuple[Candidate, ...] = ()


class Draw(_Part):
    """Something that was drawn at random."""

    year: int
    draw: DrawKind
    before: int = Field(ge=0, description="Number of entries of `decisions` before the draw.")
    gained: tuple[float, ...] = Field(description="The score that the draw brought, by seat.")
    error: tuple[float, ...]


class SeatSum(_Part):
    """The sums of a seat. Score = score after luck + luck."""

    seat: Seat
    entry: str
    score: float
    skill_lost: Value
    luck: Value
    score_after_luck: float
    inaccuracies: int
    mistakes: int
    blunders: int


class Analysis(_Part):
    """The analysis of a match."""

    format: Literal[1] = 1
    analyser: int = Field(description="Version of the analyser.")
    rules_version: int
    edition_sha256: Digest
    replay_sha256: Digest
    match_id: str
    budget: str
    playouts: int
    seats: tuple[SeatSum, ...]
    decisions: tuple[Decision, ...]
    draws: tuple[Draw, ...]


def analysis_path(replay: Path) -> Path:
    """Return the path of the analysis of a single replay: `NAME.analysis.json` next to it."""
    return replay.with_name(replay.name.removesuffix(".asara") + SUFFIX)


def analysis_bytes(analysis: Analysis) -> bytes:
    """Return the content of the file."""
    return analysis.model_dump_json().encode() + b"\n"


def parse_analysis(data: bytes, replay_sha256: str) -> Analysis:
    """Return the analysis in a file. Raise AnalysisError if it is not about this replay, or if
    another version of the program wrote it.
    """
    try:
        found = Analysis.model_validate_json(data)
    except ValidationError:
        raise AnalysisError(
            "not an analysis, or of another format; analyse the replay again"
        ) from None
    if found.analyser != VERSION or found.rules_version != RULES_VERSION:
        raise AnalysisError("made by another version of the program; analyse the replay again")
    if found.replay_sha256 != replay_sha256:
        raise AnalysisError("about another replay; analyse this replay again")
    return found


def read_analysis(path: Path, replay_sha256: str) -> Analysis:
    """Return the analysis in a file; raises AnalysisError with the path."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise AnalysisError("larger than any analysis")
        return parse_analysis(data, replay_sha256)
    except OSError as error:
        raise AnalysisError(f"{path}: {error.strerror or error}") from None
    except AnalysisError as error:
        raise AnalysisError(f"{path}: ignored: {error}") from None
