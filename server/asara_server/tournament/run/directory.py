"""The directory of a run.

run.json         title, seed, secret of the deals, versions, times, and how the run ended
tournament.toml  a copy of the tournament file
referee.pub      public half of the key that signs the run and its replays
manifest.json    what was decided before the first match; manifest.json.sig is its signature
results.jsonl    a line for each attempt at a match, written when it ends
standings.json   the standings, written at the end even if the run was cut short
tree_head.json   hashes of the final files, written at the end; tree_head.json.sig is its signature
replays/         a file for each match
logs/            output of the bots, by match, and of builds
builds/          directories of entries after their build
bundles/         a zip file for the author of each entry, once `asara bundle` has written it
analysis/        what each match was decided by, once `asara analyse` has written it
run.journal      inputs and results of all matches, from which a killed run is resumed
journals/        journals of the blocks that worker processes play; see `block_journals`
remote.json      presence of the bots on other machines, while the run is played
run.log          log of the referee and the runner
report.html      a page about the run, once `asara report` has written it
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError

from asara_server.atomic_file import PRIVATE, PUBLIC, AppendedFile, abandoned_parts, replace_file
from asara_server.bounded_file import MIB, bounded_lines, open_ordinary, read_bounded
from asara_server.eventlog.file_lock import lock_holder
from asara_server.eventlog.journal import Fact, Journal, JournalError
from asara_server.logs import logger
from asara_server.match.spec import ProcessPolicy
from asara_server.replay.file import file_content
from asara_server.tournament.config.block_kinds import BlockKind
from asara_server.tournament.config.tournament_file import LARGEST_FILE
from asara_server.tournament.run.block_journals import FOLDER as JOURNALS
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.process_record import RunProcesses
from asara_server.tournament.sandbox.spec import SandboxKind
from asara_server.tournament.standings.match_result import LONGEST_LINE, MatchResult
from asara_server.tournament.standings.model import Standings
from asara_server.user_error import UserError

JOURNAL = "run.journal"
RUN_FILES = (
    "run.json",
    "tournament.toml",
    "results.jsonl",
    "standings.json",
    "referee.pub",
    "manifest.json",
    "manifest.json.sig",
    "tree_head.json",
    "tree_head.json.sig",
    "run.log",
    JOURNAL,
    "remote.json",
    "report.html",
)
RUN = "run"
"""Kind of the facts about changes in `run.json`."""
BUNDLES = "bundles"
ANALYSIS = "analysis"
BUNDLE_MATCHES = "matches.jsonl"
"""File in a bundle with the results of the bundle's matches; a run has no such file."""
PAGES = "pages"
"""Folder of the match pages written by `asara report --pages`."""
RUN_FOLDERS = ("replays", "logs", "builds", JOURNALS, BUNDLES, PAGES, ANALYSIS)
_ALWAYS = ("replays", "logs")

_LARGEST_JSON = 16 * MIB
_MOST_SCHEDULED = 1_000_000_000
"""An upper bound on the matches of any run."""


class RunDirectoryError(UserError, ValueError):
    """Raised if a directory cannot be used for a run; the text gives the reason and the remedy."""


class RunInfo(BaseModel):
    """Content of `run.json`."""

    asara: str
    """Version of asara."""
    title: str
    entries: tuple[str, ...] = ()
    """Names of the entries, in the order of the tournament file."""
    scheduled: int = Field(default=0, ge=0, le=_MOST_SCHEDULED)
    """Number of matches."""
    seed: str
    """Text from which the tournament's secret is derived."""
    seed_drawn: bool
    """True if the seed was drawn for this run, False if the tournament file sets it."""
    deals: Literal["committed", "joint"]
    """"committed" if deals are derived from the seed alone, "joint" if the bots add nonces."""
    blocks: BlockKind
    """How the matches of a block share deals."""
    deal_commitment: str
    """SHA-256 of the tournament's secret, published before the first match."""
    tournament_secret: str | None = None
    """The secret from which all deals are derived, in hexadecimal; None until all are played."""
    edition: str
    edition_sha256: str
    started: str
    """Start time, ISO 8601, UTC."""
    resumed: str | None = None
    """Time of the last resumption, ISO 8601, UTC."""
    ended: str | None = None
    state: Literal["prepared", "running", "finished", "cut short"] = "running"
    """"prepared": the manifest is signed, and no match has begun."""
    sandbox: SandboxKind = "none"
    """Sandbox in which the bots ran."""
    process_per: dict[str, ProcessPolicy] = {}
    """Lifetime of the processes of each entry whose bots are started here."""
    remote: tuple[str, ...] = ()
    """Entries with bots on other machines; the matches of their mirrored blocks share no deal."""
    looks: tuple[int, ...] = ()
    """Match counts at which the run may end early if its ranks are settled."""
    left_out: dict[str, str] = {}
    """Names of folders without a usable `bot.toml`, with the reasons, one line per fault."""
    to_build: tuple[str, ...] = ()
    """Entries whose build has not started yet."""
    building: dict[str, str] = {}
    """Entries being built, each with the time its build began (ISO 8601, UTC)."""
    built: str | None = None
    """Time at which the last build ended, ISO 8601, UTC; None without a build."""
    build_output: dict[str, tuple[str, ...]] = {}
    """Last lines printed by failed builds, by entry."""
    out: dict[str, str] = {}
    """Entries that could not be built or started, with the reasons."""
    suspended: dict[str, str] = {}
    """Entries that forfeited too often, with the reasons."""
    group: dict[str, int] = {}
    """The blocks that are played together now, each with its number of matches."""
    beside_others: bool = False
    """True if a leg began while bots of other runs lived on the machine."""
    stalled_s: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Seconds during which all clocks stood still because the referee was not running. None if
    unknown: while the run is played, and if workers played it.
    """
    costs: RunCosts | None = None
    """Costs of all sessions so far; None before the first match."""
    executor: str = ""
    """Name of the last executor that played matches."""
    manifest_sha256: str = ""
    """SHA-256 of `manifest.json`, published before the first match."""
    resumed_with: tuple[str, ...] = ()
    """Versions of the program that resumed the run, in order."""

    def content(self) -> bytes:
        """Return the bytes of `run.json`."""
        return _json_text(self)

    def values(self) -> dict[str, Any]:
        """Return the fields in the form in which the journal has their changes."""
        return self.model_dump(mode="json", exclude={"group", "beside_others"})


def run_values(facts: Iterable[Fact]) -> dict[str, Any]:
    """Return the fields of `run.json` that follow from these facts; empty if no run has begun."""
    values: dict[str, Any] = {}
    for kind, changes in facts:
        values |= changes if kind == RUN else {}
    return values


class RemoteEntry(BaseModel):
    """Presence of an entry's bot on another machine."""

    state: Literal["here", "awaited", "missed"]
    """"here": connected. "awaited": its matches wait for it. "missed": it was away for too long,
    and forfeits its matches until it connects.
    """
    since: str
    """Time when the bot last connected or disconnected, or the run began; ISO 8601, UTC."""


class RemoteInfo(BaseModel):
    """Content of `remote.json`."""

    address: str
    """Address to which the bots connect."""
    wait_s: float = Field(ge=0, allow_inf_nan=False)
    """How many seconds matches wait for a bot."""
    entries: dict[str, RemoteEntry]
    """Entries that still take part, by name."""


def read_remote(path: Path) -> RemoteInfo | None:
    """Return the content of a directory's `remote.json`, or None if the file is missing.

    Raises RunDirectoryError if the file cannot be read.
    """
    try:
        return RemoteInfo.model_validate_json(read_bounded(path / "remote.json", _LARGEST_JSON))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError):
        raise RunDirectoryError(f"{path / 'remote.json'}: cannot be read") from None


def read_info(path: Path) -> RunInfo:
    """Return the content of a directory's `run.json`; raises RunDirectoryError."""
    try:
        return RunInfo.model_validate_json(read_bounded(path / "run.json", _LARGEST_JSON))
    except (OSError, ValidationError):
        raise RunDirectoryError(
            f"{path / 'run.json'}: cannot be read, or was written by another version of asara"
        ) from None


class RunDirectory:
    """The directory of an open run; the owner must call `close`.

    The journal alone is read when the run is resumed; all other files are written after it. A
    replay reveals its deal, so the replays of a block with a shared deal are published after the
    block's last match.
    """

    def __init__(self, path: Path, journal: Journal, *, begun: bool = False) -> None:
        """With `begun`, raises RunDirectoryError if no run has begun."""
        self.path = path
        self.replays = path / "replays"
        self.logs = path / "logs"
        self.builds = path / "builds"
        self.journal = journal
        self._check_results()
        self.processes = RunProcesses(journal)
        self.info = self._journaled_info()
        """Content of `run.json` by the journal; None if no run has begun."""
        if begun and self.info is None:
            raise RunDirectoryError(
                f"{path / JOURNAL}: its beginning is missing: restore it from a backup, or start "
                "the run again in another folder"
            )
        with ExitStack() as stack:
            stack.callback(journal.close)
            self._results = AppendedFile(path / "results.jsonl")
            stack.callback(self._results.close)
            self._stack = stack.pop_all()
        self._unpublished: dict[str, bytes] = {}
        """Content of replays that are not written yet, by name."""

    def _journaled_info(self) -> RunInfo | None:
        values = run_values(self.journal.facts)
        if not values:
            return None
        others = self.processes.beside_others > 0
        try:
            return RunInfo(**values, group=dict(self.processes.group), beside_others=others)
        except (TypeError, ValidationError):
            raise JournalError(f"{self.journal.path}: by another version of asara") from None

    def _check_results(self) -> None:
        """Raise RunDirectoryError if `results.jsonl` has results that the journal lacks.

        The journal is always written first, so missing results mean that the end of the journal was
        lost. These matches would be played again.
        """
        path = self.path / "results.jsonl"
        known = len(self.journal.ended)
        if path.exists():
            with open_ordinary(path) as file:
                lines = bounded_lines(file, path, LONGEST_LINE)
                told = sum(line.endswith(b"\n") for line in lines)
            if told > known:
                raise RunDirectoryError(
                    f"{self.path / JOURNAL}: its end is missing: it has {known:,} of {told:,} "
                    f"results in {path.name}; restore it from a backup, or delete {path.name}: it "
                    "is written from the journal, and what is missing there is played again"
                )

    @classmethod
    def create(cls, path: Path) -> Self:
        """Create the directory of a new run; raises RunDirectoryError.

        `path` must be empty, missing, or contain only the leftovers of a run that never began.
        """
        with _errors(path), ExitStack() as stack:
            if path.exists() and not path.is_dir():
                raise RunDirectoryError(f"{path}: is a file; choose a folder for the run")
            path.mkdir(parents=True, exist_ok=True)
            _check_not_played(path)
            if any(path.iterdir()):
                _check_never_begun(path)
            journal = stack.enter_context(Journal(path / JOURNAL))
            _clear(path)
            for folder in _ALWAYS:
                (path / folder).mkdir()
            directory = cls(path, journal)
            stack.pop_all()
        return directory

    @classmethod
    def reopen(cls, path: Path) -> Self:
        """Open the directory of an unfinished run; raises RunDirectoryError.

        A refused directory is not changed, except that documents are written that a killed program
        did not write.
        """
        with _errors(path), ExitStack() as stack:
            if not has_run(path):
                raise RunDirectoryError(f"{path}: contains no run; start one without --resume")
            _check_not_played(path)
            if not (path / JOURNAL).is_file():
                raise RunDirectoryError(
                    f"{path}: this run has no {JOURNAL} to resume from: restore it from a backup, "
                    "or start the run again in another folder"
                )
            published = {file.stem for file in (path / "replays").glob("*.asara")}
            journal = Journal(path / JOURNAL, wanted=lambda name: name not in published)
            stack.enter_context(journal)
            directory = cls(path, journal, begun=True)
            stack.callback(directory.close)
            finished, written = directory.present.state == "finished", path / "run.json"
            documents = ("manifest", "tree_head") if finished else ("manifest",)
            if not (finished and written.is_file() and directory.info == read_info(path)):
                directory.export(*(fact for fact in journal.facts if fact.kind in documents))
            if finished:
                raise RunDirectoryError(f"{path}: this run is complete; there is nothing to resume")
            for folder in _ALWAYS:
                (path / folder).mkdir(exist_ok=True)
            stack.pop_all()
        return directory

    def record_result(self, result: MatchResult, replay: Sequence[bytes]) -> MatchResult:
        """Store the result of a match, first in the journal, then in `results.jsonl`.

        `replay` contains the records of the match's replay, or is empty if the match is void. The
        records stay in the journal, which only the owner may read, until `publish_replays`. Returns
        the result with the replay's hash.
        """
        if replay:
            content = self._unpublished[result.played_as] = file_content(replay)
            result = result.model_copy(
                update={"replay_sha256": hashlib.sha256(content).hexdigest()}
            )
        line = result.model_dump_json()
        self.journal.end(result.played_as, line, replay)
        self._results.append(f"{line}\n".encode())
        return result

    def publish_replays(self, names: Iterable[str]) -> None:
        """Write the replays of these matches, given by their names in the journal, to `replays`."""
        for name in names:
            replay = self._unpublished.pop(name, None)
            if replay is not None:
                replace_file(self.replays / f"{name}.asara", replay)

    def restore_results(self) -> list[MatchResult]:
        """Rewrite `results.jsonl` from the journal, and return the results."""
        for folder, names in ((self.path, RUN_FILES), (self.replays, ("*.asara",))):
            for part in abandoned_parts(folder, names):
                part.unlink()
        ended, self.journal.ended = self.journal.ended, []
        self._results.close()
        path = self.path / "results.jsonl"
        replace_file(path, "".join(f"{one.result}\n" for one in ended).encode())
        self._results = AppendedFile(path)
        self._stack.callback(self._results.close)
        results = [MatchResult.model_validate_json(one.result) for one in ended]
        for result, (_, records) in zip(results, ended, strict=True):
            if records and not result.void:
                self._unpublished[result.played_as] = file_content(records)
        return results

    def make_journals(self) -> None:
        """Make the folder for the journals of blocks; raises OSError."""
        (self.path / JOURNALS).mkdir(mode=0o700, exist_ok=True)

    def remove_journals(self) -> None:
        """Remove the folder for the journals of blocks if it is empty."""
        with suppress(OSError):
            (self.path / JOURNALS).rmdir()

    @property
    def present(self) -> RunInfo:
        """Content of `run.json`, once the run has begun."""
        assert self.info is not None
        return self.info

    def change(self, **changes: object) -> None:
        """Change fields of `run.json`; raises JournalError."""
        try:
            self.write_info(self.present.model_copy(update=changes))
        except OSError as error:  # no reason to stop the matches
            why = error.strerror or str(error)
            logger("runner").warning("run.json not written", detail=why)

    def write_info(self, info: RunInfo, *facts: Fact) -> None:
        """Write what changes in `run.json`, and other facts, to the journal; then write the files.

        Raises JournalError and OSError.
        """
        before = {} if self.info is None else self.info.values()
        changes = {name: v for name, v in info.values().items() if before.get(name, ...) != v}
        if changes or facts:
            self.journal.note(*facts, Fact(RUN, changes))
        self.info = info
        self.export(*facts)

    def export(self, *facts: Fact) -> None:
        """Write `run.json`, and the signed documents in these facts.

        Until the run is finished, only the owner may read `run.json`, the journal or the tournament
        file, because they contain secrets of deals.
        """
        for kind, values in facts:
            replace_file(self.path / f"{kind}.json", values["content"].encode())
            signature = bytes.fromhex(values["signature"])
            replace_file(self.path / f"{kind}.json.sig", signature)
        finished = self.present.state == "finished"
        mode = PUBLIC if finished else PRIVATE
        replace_file(self.path / "run.json", self.present.content(), mode=mode)
        if finished and self.tournament_file.is_file():
            replace_file(self.tournament_file, self.tournament_file.read_bytes())
        if finished:
            shutil.copymode(self.path / "run.json", self.path / JOURNAL)

    def keep_tournament_file(self, file: Path) -> None:
        """Copy the tournament file to the directory; only the owner may read the copy."""
        replace_file(self.tournament_file, file.read_bytes(), mode=PRIVATE)

    @property
    def tournament_file(self) -> Path:
        """Path of the copy of the tournament file; runs of `match` and `duel` have no copy."""
        return self.path / "tournament.toml"

    @property
    def tournament_text(self) -> bytes | None:
        """Content of the copy of the tournament file; None without a copy."""
        path = self.tournament_file
        return read_bounded(path, LARGEST_FILE) if path.is_file() else None

    def write_public_key(self, pem: bytes) -> None:
        replace_file(self.path / "referee.pub", pem)

    def write_remote(self, info: RemoteInfo) -> None:
        replace_file(self.path / "remote.json", _json_text(info))

    def remove_remote(self) -> None:
        (self.path / "remote.json").unlink(missing_ok=True)

    def write_standings(self, standings: Standings) -> bytes:
        """Write `standings.json` and return its content."""
        content = standings_bytes(standings)
        replace_file(self.path / "standings.json", content)
        return content

    def results_sha256(self) -> str:
        """Force `results.jsonl` to disk, and return its SHA-256 in hexadecimal."""
        os.fsync(self._results.fileno())
        with (self.path / "results.jsonl").open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def close(self) -> None:
        self._stack.close()


def standings_bytes(standings: Standings) -> bytes:
    """Return the content of `standings.json`."""
    return _json_text(standings)


def _json_text(model: BaseModel) -> bytes:
    return (model.model_dump_json(indent=2) + "\n").encode()


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Convert every expected error raised in the context to RunDirectoryError."""
    try:
        yield
    except JournalError as error:
        raise RunDirectoryError(str(error)) from None
    except OSError as error:
        what = error.strerror or error
        raise RunDirectoryError(f"{error.filename or path}: cannot be written: {what}") from None


def has_run(path: Path) -> bool:
    """Return True if a run has begun in a directory; raises OSError."""
    journal = path / JOURNAL
    return (path / "run.json").is_file() or (journal.is_file() and journal.stat().st_size > 0)


def _check_not_played(path: Path) -> None:
    """Raise RunDirectoryError if a run is being played in the directory; may also raise OSError."""
    with suppress(FileNotFoundError):
        process = lock_holder(path / JOURNAL)
        if process is not None:
            which = f" by process {process}" if process else ""
            raise RunDirectoryError(
                f"{path}: a run is being played in it{which}: wait until it is over, stop it, or "
                "choose another folder"
            )


def _check_never_begun(path: Path) -> None:
    """Raise RunDirectoryError if a directory holds more than an unbegun run could leave there."""
    if has_run(path):
        raise RunDirectoryError(
            f"{path}: already contains a run; choose another folder, or delete that run first"
        )
    if not _was_never_begun(path):
        raise RunDirectoryError(f"{path}: is not empty; choose a folder that is new or empty")


def _clear(path: Path) -> None:
    """Delete the leftovers of a run that never began, except its journal, which is held open."""
    for name in _possible_names(path).difference(RUN_FOLDERS, [JOURNAL]):
        (path / name).unlink(missing_ok=True)
    for name in RUN_FOLDERS:
        shutil.rmtree(path / name, ignore_errors=True)


def _possible_names(path: Path) -> set[str]:
    """Return the names in a directory that a run may have created."""
    parts = abandoned_parts(path, RUN_FILES)
    return {*RUN_FILES, *RUN_FOLDERS, *(part.name for part in parts)}


def _was_never_begun(path: Path) -> bool:
    """True if a run created this directory but was killed before it wrote `run.json`."""
    names = {file.name for file in path.iterdir()}
    results = path / "results.jsonl"
    written = results.exists() and results.stat().st_size > 0
    return JOURNAL in names and names <= _possible_names(path) and not written
