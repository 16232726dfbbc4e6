"""The file of an analysis. `analysis.schema.json` is its JSON schema."""

from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from asara_game.rules import RULES_VERSION
from asara_search.analysis import VERSION
from asara_server.bounded_file import read_bounded

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
    sequence: int = Field(ge=0, description="Number of public events before the decision.")
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
    sequence: int = Field(ge=0, description="Number of public events, with those of the draw.")
    gained: tuple[float, ...] = Field(description="The score that the draw brought, by seat.")
    error: tuple[float, ...]
    stroke: Seat | None = Field(
        description="Seat whose score it certainly changed most, by more than 0.02; null if none."
    )


class Point(_Part):
    """The score that a seat could expect at its turn, from what it knew; at the end, its score."""

    seat: Seat
    sequence: int = Field(ge=0, description="Number of public events before.")
    expected: Value


class SeatSum(_Part):
    """The sums of a seat. Score = score after luck + luck."""

    seat: Seat
    entry: str
    score: float
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
    course: tuple[Point, ...] = Field(description="Points of each seat in the order of events.")


def analysis_bytes(analysis: Analysis) -> bytes:
    """Return the content of the file."""
    return analysis.model_dump_json().encode() + b"\n"


def read_analysis(path: Path, replay: bytes) -> Analysis | None:
    """Return the analysis of a replay in a file; None if there is no file.

    Raises AnalysisError for a file that is to be ignored, because it is about another replay or
    another version of the program made it.
    """
    try:
        found = Analysis.model_validate_json(read_bounded(path, LARGEST_FILE))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AnalysisError(error.strerror or "cannot be read") from None
    except ValidationError:
        raise AnalysisError("not an analysis, or one in another format") from None
    if found.analyser != VERSION or found.rules_version != RULES_VERSION:
        raise AnalysisError("another version of the program made this analysis")
    if found.replay_sha256 != sha256(replay).hexdigest():
        raise AnalysisError("this analysis is about another replay")
    return found
