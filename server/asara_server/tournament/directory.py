"""A run on disk.

run.json         what was run: seed, secret of the deals, versions, when, and how it ended
tournament.toml  the file it was run from
referee.pub      public half of the key that signs the replays
results.jsonl    a line per match, as soon as it ended
standings.json   the standings; written at the end, also of a run that was cut short
replays/         a file per match
logs/            what each bot printed
run.log          what the referee and the runner did
"""

import shutil
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TextIO

from pydantic import BaseModel

from asara_server.tournament.results import MatchResult
from asara_server.tournament.standings import Standings

RUN_FILES = (
    "run.json",
    "tournament.toml",
    "results.jsonl",
    "standings.json",
    "referee.pub",
    "run.log",
)
RUN_FOLDERS = ("replays", "logs")


class RunDirectoryError(ValueError):
    """A directory that a run cannot be kept in; the text says why and what to do."""


class RunInfo(BaseModel):
    """What `run.json` holds."""

    asara: str
    """Version of the program."""
    title: str
    seed: str
    """The secret of all deals derives from it."""
    seed_drawn: bool
    """Whether it was drawn for this run; else the tournament file names it."""
    deals: Literal["committed", "joint"]
    """Whether deals come from the seed alone, or from nonces of the bots as well."""
    deal_commitment: str
    """SHA-256 of the tournament's secret; published before the first match."""
    tournament_secret: str | None = None
    """What the deals of all matches derive from; told when all are played."""
    edition: str
    edition_sha256: str
    started: str
    """ISO 8601, UTC."""
    ended: str | None = None
    state: Literal["running", "finished", "cut short"] = "running"


class RunDirectory:
    """Where a run keeps what it leaves behind. A context: closes the results file at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.replays = path / "replays"
        self.logs = path / "logs"
        self._results: TextIO = (path / "results.jsonl").open("a", encoding="utf-8")

    @classmethod
    def create(cls, path: Path, *, replace: bool = False) -> Self:
        """A new run at `path`, which must be empty or not exist.

        With `replace`, a run that it holds is deleted first, and nothing else is.
        """
        if path.exists() and not path.is_dir():
            raise RunDirectoryError(f"{path}: is a file; name a directory for the run")
        try:
            if path.is_dir() and any(path.iterdir()):
                _clear(path, replace=replace)
            for folder in RUN_FOLDERS:
                (path / folder).mkdir(parents=True)
            return cls(path)
        except OSError as error:
            raise RunDirectoryError(
                f"{error.filename or path}: cannot be written: {error.strerror}"
            ) from None

    def append(self, result: MatchResult) -> None:
        """Add a match to the results, on disk before this returns."""
        self._results.write(result.model_dump_json() + "\n")
        self._results.flush()

    def write_info(self, info: RunInfo) -> None:
        """Only the owner may read it before the run is finished: it holds the seed."""
        mode = 0o644 if info.state == "finished" else 0o600
        _write(self.path / "run.json", info.model_dump_json(indent=2) + "\n", mode=mode)

    def write_public_key(self, pem: bytes) -> None:
        """What the replays are checked with."""
        _write(self.path / "referee.pub", pem.decode())

    def write_standings(self, standings: Standings) -> None:
        _write(self.path / "standings.json", standings.model_dump_json(indent=2) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._results.close()


def _clear(path: Path, *, replace: bool) -> None:
    if not (path / "run.json").is_file():
        raise RunDirectoryError(
            f"{path}: is not empty, and holds no run; name a directory that is empty or new"
        )
    if not replace:
        raise RunDirectoryError(
            f"{path}: already holds a run; name another directory, "
            "or delete this run with --replace"
        )
    foreign = sorted(
        file.name for file in path.iterdir() if file.name not in (*RUN_FILES, *RUN_FOLDERS)
    )
    if foreign:
        raise RunDirectoryError(
            f"{path}: {foreign[0]!r} is no part of the run; move it away or name another directory"
        )
    for name in RUN_FILES:
        (path / name).unlink(missing_ok=True)
    for name in RUN_FOLDERS:
        shutil.rmtree(path / name, ignore_errors=True)


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    """Replace the file at once, so that a reader never sees half of it."""
    part = path.with_name(path.name + ".part")
    part.touch(mode)
    part.write_text(text, encoding="utf-8")
    part.replace(path)
