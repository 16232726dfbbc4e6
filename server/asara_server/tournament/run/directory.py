"""A run on disk.

run.json         what was run: seed, secret of the deals, versions, when, and how it ended
tournament.toml  the file it was run from
referee.pub      public half of the key that signs the replays
results.jsonl    a line per match, as soon as it ended
standings.json   the standings; written at the end, also of a run that was cut short
replays/         a file per match
logs/            what each bot printed, by match; and what builds did
builds/          directories of entries that were built, as they are afterwards
journal.sqlite   what a run that was killed goes on from
remote.json      which bots on other machines are here, while it plays
run.log          what the referee and the runner did
report.html      a page about the run, once `asara report` has written it
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TextIO

from pydantic import BaseModel, Field, ValidationError

from asara_server.eventlog.journal import Durability, Journal, JournalError
from asara_server.replay.file import write_file
from asara_server.tournament.sandbox.spec import SandboxKind
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import Standings

RUN_FILES = (
    "run.json",
    "tournament.toml",
    "results.jsonl",
    "standings.json",
    "referee.pub",
    "run.log",
    "journal.sqlite",
    "remote.json",
    "report.html",
)
JOURNAL = "journal.sqlite"
RUN_FOLDERS = ("replays", "logs", "builds")
_ALWAYS = ("replays", "logs")
_LEFTOVERS = (
    f"{JOURNAL}-wal",
    "run.json.part",
    "standings.json.part",
    "results.jsonl.part",
    "remote.json.part",
)
"""What else there is where a run was killed."""

_MOST_SCHEDULED = 1_000_000_000
"""More matches than any run can have."""


class RunDirectoryError(ValueError):
    """A directory that a run cannot be kept in; the text says why and what to do."""


class RunInfo(BaseModel):
    """What `run.json` holds."""

    asara: str
    """Version of the program."""
    title: str
    entries: tuple[str, ...] = ()
    """Their names, in the order of the file."""
    scheduled: int = Field(default=0, ge=0, le=_MOST_SCHEDULED)
    """Matches; 0 in runs of earlier versions, which did not say."""
    seed: str
    """The secret of all deals derives from it."""
    seed_drawn: bool
    """Whether it was drawn for this run; else the tournament file names it."""
    deals: Literal["committed", "joint"]
    """Whether deals come from the seed alone, or from nonces of the bots as well."""
    blocks: Literal["mirrored", "independent"]
    """Whether all matches of a block have one deal, or each its own."""
    deal_commitment: str
    """SHA-256 of the tournament's secret; published before the first match."""
    tournament_secret: str | None = None
    """What the deals of all matches derive from; told when all are played."""
    edition: str
    edition_sha256: str
    started: str
    """ISO 8601, UTC."""
    resumed: str | None = None
    """When it went on last."""
    ended: str | None = None
    state: Literal["running", "finished", "cut short"] = "running"
    sandbox: SandboxKind = "none"
    """How bots were contained."""
    remote: tuple[str, ...] = ()
    """Entries whose bots dial in from other machines; no block with one of them is mirrored."""
    out: dict[str, str] = {}
    """Entries that could not be built or started, and why; told at the end."""
    suspended: dict[str, str] = {}
    """Entries that faulted too often, and why; told at the end."""


class RemoteEntry(BaseModel):
    """How it stands with the bot of an entry on another machine."""

    state: Literal["here", "awaited", "missed"]
    """Whether it is here, its matches wait for it, or count as never started until it comes."""
    since: str
    """When it came or went, or the run began; ISO 8601, UTC."""


class RemoteInfo(BaseModel):
    """What `remote.json` holds."""

    address: str
    """Where the bots dial in."""
    wait_s: float = Field(ge=0, allow_inf_nan=False)
    """How long matches wait for one."""
    entries: dict[str, RemoteEntry]
    """By name, those that take part."""


def read_remote(path: Path) -> RemoteInfo | None:
    """What the `remote.json` of this directory says; None without one. A RunDirectoryError where
    it cannot be read.
    """
    try:
        return RemoteInfo.model_validate_json((path / "remote.json").read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError):
        raise RunDirectoryError(f"{path / 'remote.json'}: cannot be read") from None


def read_info(path: Path) -> RunInfo:
    """What the `run.json` of this directory says; a RunDirectoryError where it cannot be read."""
    try:
        return RunInfo.model_validate_json((path / "run.json").read_bytes())
    except (OSError, ValidationError):
        raise RunDirectoryError(
            f"{path / 'run.json'}: cannot be read, or was written by another version of asara"
        ) from None


class RunDirectory:
    """Where a run keeps what it leaves behind. A context: closes its files at the end.

    The journal knows which matches are over; `results.jsonl` and `replays` follow it. A replay
    tells its deal, so that of a mirrored block comes when all its matches are over.
    """

    def __init__(self, path: Path, durability: Durability = "normal") -> None:
        self.path = path
        self.replays = path / "replays"
        self.logs = path / "logs"
        self.builds = path / "builds"
        self.journal = Journal(path / JOURNAL, durability)
        self._results: TextIO = (path / "results.jsonl").open("a", encoding="utf-8")

    @classmethod
    def create(
        cls, path: Path, *, replace: bool = False, durability: Durability = "normal"
    ) -> Self:
        """A new run at `path`, which must be empty or not exist.

        With `replace`, a run that it holds is deleted first, and nothing else is.
        """
        if path.exists() and not path.is_dir():
            raise RunDirectoryError(f"{path}: is a file; name a directory for the run")
        try:
            if path.is_dir() and any(path.iterdir()):
                _clear(path, replace=replace)
            for folder in _ALWAYS:
                (path / folder).mkdir(parents=True)
            return cls(path, durability)
        except OSError as error:
            raise _unwritable(path, error) from None
        except JournalError as error:
            raise RunDirectoryError(str(error)) from None

    @classmethod
    def reopen(cls, path: Path, *, durability: Durability = "normal") -> tuple[Self, RunInfo]:
        """The run that `path` holds, and what it was; one that is complete is refused."""
        if not (path / "run.json").is_file():
            raise RunDirectoryError(f"{path}: holds no run; start one without --resume")
        info = read_info(path)
        if info.state == "finished":
            raise RunDirectoryError(f"{path}: this run is complete; there is nothing to resume")
        if not (path / JOURNAL).is_file():
            raise RunDirectoryError(f"{path}: this run has no {JOURNAL} to go on from")
        try:
            for folder in _ALWAYS:
                (path / folder).mkdir(exist_ok=True)
            return cls(path, durability), info
        except OSError as error:
            raise _unwritable(path, error) from None
        except JournalError as error:
            raise RunDirectoryError(str(error)) from None

    def keep(self, result: MatchResult, replay: bytes | None) -> None:
        """A match is over: in the journal first, then in the results.

        Its replay stays in the journal, which only the owner may read, until `write_replays`.
        """
        self.journal.end(result.played_as, result.model_dump_json(), replay)
        self._append(result)

    def write_replays(self, names: Iterable[str]) -> None:
        """Let everybody read the replays of these matches, by their names in the journal."""
        for name in names:
            replay = self.journal.replay(name)
            if replay is not None:
                write_file(self.replays / f"{name}.asara", replay)
                self.journal.written(name)

    def catch_up(self) -> list[MatchResult]:
        """The matches that are over by the journal, once `results.jsonl` says the same."""
        for part in self.replays.glob(".*"):  # of a run that was killed while it wrote
            part.unlink()
        results = []
        lines = []
        for ended in list(self.journal.ended()):
            results.append(MatchResult.model_validate_json(ended.result))
            lines.append(ended.result + "\n")
        self._results.close()
        path = self.path / "results.jsonl"
        _write(path, "".join(lines))
        self._results = path.open("a", encoding="utf-8")
        return results

    def _append(self, result: MatchResult) -> None:
        self._results.write(result.model_dump_json() + "\n")
        self._results.flush()

    def write_info(self, info: RunInfo) -> None:
        """Only the owner may read it before the run is finished: it holds the seed."""
        mode = 0o644 if info.state == "finished" else 0o600
        _write(self.path / "run.json", info.model_dump_json(indent=2) + "\n", mode=mode)

    @property
    def file(self) -> Path:
        """A copy of the file that a tournament was run from."""
        return self.path / "tournament.toml"

    @property
    def public_key(self) -> bytes | None:
        """What the replays are checked with, once it is there."""
        path = self.path / "referee.pub"
        return path.read_bytes() if path.is_file() else None

    def write_public_key(self, pem: bytes) -> None:
        """What the replays are checked with."""
        _write(self.path / "referee.pub", pem.decode())

    def write_remote(self, info: RemoteInfo | None) -> None:
        """Which bots on other machines are here; None at the end."""
        path = self.path / "remote.json"
        if info is None:
            path.unlink(missing_ok=True)
        else:
            _write(path, info.model_dump_json(indent=2) + "\n")

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
        self.journal.close()


def _unwritable(path: Path, error: OSError) -> RunDirectoryError:
    return RunDirectoryError(f"{error.filename or path}: cannot be written: {error.strerror}")


def _clear(path: Path, *, replace: bool) -> None:
    if not (path / "run.json").is_file() and not _was_never_begun(path):
        raise RunDirectoryError(
            f"{path}: is not empty, and holds no run; name a directory that is empty or new"
        )
    if not replace and (path / "run.json").is_file():
        raise RunDirectoryError(
            f"{path}: already holds a run; name another directory, "
            "or delete this run with --replace"
        )
    ours = {*RUN_FILES, *RUN_FOLDERS, *_LEFTOVERS}
    foreign = sorted(file.name for file in path.iterdir() if file.name not in ours)
    if foreign:
        raise RunDirectoryError(
            f"{path}: {foreign[0]!r} is no part of the run; move it away or name another directory"
        )
    for name in ours.difference(RUN_FOLDERS):
        (path / name).unlink(missing_ok=True)
    for name in RUN_FOLDERS:
        shutil.rmtree(path / name, ignore_errors=True)


def _was_never_begun(path: Path) -> bool:
    """Whether this is what a run leaves that was killed before it had a run.json."""
    names = {file.name for file in path.iterdir()}
    results = path / "results.jsonl"
    return (
        names <= {*RUN_FILES, *RUN_FOLDERS, *_LEFTOVERS}
        and "replays" in names
        and not (results.is_file() and results.stat().st_size)
    )


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    """Replace the file at once, so that a reader never sees half of it."""
    part = path.with_name(path.name + ".part")
    part.touch(mode)
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
