"""The directory of a run. The journal is the run; all other files are written from it or beside it.

README.md describes the files.

The folder `journals` has a journal for each block that a worker process on this machine is playing.
The worker writes to it all that a `local` run writes to the run's journal. The runner removes it
after recording the results of the block in the run's journal. So if the worker or the runner is
killed, the block can be continued. An empty journal means that no match of the block has begun.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count as count_up
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, Field, ValidationError

from asara_server.atomic_file import PRIVATE, PUBLIC, AppendedFile, abandoned_parts, replace_file
from asara_server.bounded_file import MIB, read_bounded
from asara_server.journal.file_lock import known_holder, lock_holder
from asara_server.journal.journal import Fact, Journal, JournalError, in_use
from asara_server.journal.line_index import IndexWriter, index_end
from asara_server.logs import logger
from asara_server.replay.file import file_content
from asara_server.tournament.config.tournament_file import LARGEST_FILE
from asara_server.tournament.run.run_record import (
    RUN,
    RUN_INFO,
    RunInfo,
    RunProcesses,
    RunRecord,
    json_bytes,
    process_rows,
)
from asara_server.tournament.standings.match_result import MatchResult, PlayedAttempt
from asara_server.tournament.standings.model import Standings
from asara_server.user_error import UserError

JOURNAL = "run.journal"
INDEX = "run.index"
RESULTS = "results.jsonl"
STANDINGS = "standings.json"
TOURNAMENT = "tournament.toml"
RUN_MARKS = (
    RUN_INFO,
    TOURNAMENT,
    RESULTS,
    STANDINGS,
    JOURNAL,
    "manifest.json",
    "manifest.json.sig",
    "tree_head.json",
    "tree_head.json.sig",
)
"""Files that mark a directory as a run: any one of them is enough."""
RUN_FILES = (*RUN_MARKS, "referee.pub", "run.log", INDEX, "remote.json", "report.html")
JOURNALS = "journals"
BUNDLES = "bundles"
ANALYSIS = "analysis"
BUNDLE_MATCHES = "matches.jsonl"
"""File in a bundle with the results of the bundle's matches; a run has no such file."""
PAGES = "pages"
"""Folder of the match pages written by `asara report --pages`."""
RUN_FOLDERS = ("replays", "logs", "builds", JOURNALS, BUNDLES, PAGES, ANALYSIS)
_ALWAYS = ("replays", "logs")

_JOURNAL_SUFFIX = ".journal"
_CHECK_INTERVAL_S = 0.05
_LARGEST_JSON = 16 * MIB
_NOT_INDEXED = (b"match ", b"began ", b"plays ", b"ended ", b"cleared ", b"given ")
"""Beginnings of the lines that nobody looks up: those that come with every match and every bot."""


class RunError(UserError, ValueError):
    """Raised if a run cannot be read, or a directory cannot be used for one; the text gives the
    reason and the remedy.
    """


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

    Raises RunError if the file cannot be read.
    """
    try:
        return RemoteInfo.model_validate_json(read_bounded(path / "remote.json", _LARGEST_JSON))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError):
        raise RunError(f"{path / 'remote.json'}: cannot be read") from None


def open_journal(path: Path, wanted: Callable[[str], bool] = lambda name: True) -> Journal:
    """Open the journal in the directory of a run; raises JournalError."""
    index = IndexWriter(path / INDEX, lambda line: not line.startswith(_NOT_INDEXED))
    return Journal(path / JOURNAL, wanted, index)


class RunDirectory:
    """The directory of an open run; the owner must call `close`.

    The journal alone is read when the run is resumed; all other files are written after it. A
    replay reveals its deal, so the replays of a block with a shared deal are published after the
    block's last match.
    """

    def __init__(self, path: Path, journal: Journal) -> None:
        """Raises RunError if the end of the journal was lost."""
        self.path = path
        self.replays = path / "replays"
        self.logs = path / "logs"
        self.builds = path / "builds"
        self.journal = journal
        if index_end(path / INDEX) > journal.size:  # these matches would be played again
            raise RunError(
                f"{path / JOURNAL}: its end is missing; restore it from a backup, or delete "
                f"{INDEX}: what is missing is then played again"
            )
        try:
            self.record = RunRecord(journal.facts)
        except ValueError as error:
            raise JournalError(f"{journal.path}: has {error}") from None
        self.processes = RunProcesses(process_rows(journal.facts, journal.path), self.note)
        with ExitStack() as stack:
            stack.callback(journal.close)
            self._results = AppendedFile(path / RESULTS)
            stack.callback(self._results.close)
            self._stack = stack.pop_all()
        self._digest = hashlib.sha256()
        """Hash of the lines in `results.jsonl`."""
        self._exported: dict[str, bytes] = {}
        """Content of the signed documents that were written, by name."""
        self._unpublished: dict[str, bytes] = {}
        """Content of replays that are not written yet, by name."""

    @classmethod
    def create(cls, path: Path) -> Self:
        """Create the directory of a new run; raises RunError.

        `path` must be empty, missing, or contain only the leftovers of a run that never began.
        """
        with _errors(path), ExitStack() as stack:
            if path.exists() and not path.is_dir():
                raise RunError(f"{path}: is a file; choose a folder for the run")
            path.mkdir(parents=True, exist_ok=True)
            _check_not_played(path)
            if any(path.iterdir()):
                _check_never_begun(path)
            journal = stack.enter_context(open_journal(path))
            _clear(path)
            for folder in _ALWAYS:
                (path / folder).mkdir()
            directory = cls(path, journal)
            stack.pop_all()
        return directory

    @classmethod
    def reopen(cls, path: Path) -> Self:
        """Open the directory of an unfinished run; raises RunError.

        A refused directory is not changed, except that documents are written that a killed program
        did not write.
        """
        with _errors(path), ExitStack() as stack:
            if not has_run(path) and not (path / RUN_INFO).exists():
                raise RunError(f"{path}: contains no run; start one without --resume")
            _check_not_played(path)
            if not has_run(path):
                raise RunError(
                    f"{path}: this run has no {JOURNAL} to resume from: restore it from a backup, "
                    "or start the run again in another folder"
                )
            published = {file.stem for file in (path / "replays").glob("*.asara")}
            journal = open_journal(path, lambda name: name not in published)
            stack.enter_context(journal)
            directory = cls(path, journal)
            stack.callback(directory.close)
            finished = directory.info.state == "finished"
            directory.export()
            if finished:
                raise RunError(f"{path}: this run is complete; there is nothing to resume")
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
            result = replace(result, replay_sha256=hashlib.sha256(content).hexdigest())
        line = result.to_json()
        self.journal.end(result.played_as, line, replay)
        data = f"{line}\n".encode()
        self._digest.update(data)
        self._results.append(data)
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
        self._results.close()
        path = self.path / RESULTS
        content = "".join(f"{one.result}\n" for one in self.journal.ended).encode()
        replace_file(path, content)
        self._digest = hashlib.sha256(content)
        self._results = AppendedFile(path)
        self._stack.callback(self._results.close)
        results = []
        for result, records in ended_attempts(self.journal):
            results.append(result)
            if records:
                self._unpublished[result.played_as] = file_content(records)
        self.journal.ended.clear()
        return results

    def make_journals(self) -> None:
        """Make the folder for the journals of blocks, for the owner only; raises OSError."""
        (self.path / JOURNALS).mkdir(mode=0o700, exist_ok=True)

    def remove_journals(self) -> None:
        """Remove the folder for the journals of blocks if it is empty."""
        with suppress(OSError):
            (self.path / JOURNALS).rmdir()

    @property
    def info(self) -> RunInfo:
        """Content of `run.json`; raises JournalError if no run has begun."""
        return self.record.info(self.journal.path)

    def change(self, **changes: object) -> None:
        """Change fields of `run.json`; raises JournalError."""
        before = self.info.model_dump(mode="json")
        after = self.info.model_copy(update=changes).model_dump(mode="json")
        if changed := {name: value for name, value in after.items() if before[name] != value}:
            self.note(Fact(RUN, changed))
        try:
            self.export()
        except OSError as error:  # no reason to stop the matches
            why = error.strerror or str(error)
            logger("runner").warning("run.json not written", detail=why)

    def note(self, *facts: Fact) -> None:
        """Write facts about the run to the journal; raises JournalError."""
        for fact in facts:
            self.record.add(fact)
        self.journal.note(*facts)

    def export(self) -> None:
        """Write `run.json` and the signed documents; remove the end of a run that was resumed.

        Until the run is finished, only the owner may read `run.json`, the journal or the tournament
        file, because they contain secrets of deals.
        """
        info, documents = self.info, self.record.files()
        for name, content in documents.items():
            if self._exported.get(name) != content:
                replace_file(self.path / name, content)
        self._exported = documents
        if "tree_head.json" not in documents:
            for name in ("tree_head.json", "tree_head.json.sig", STANDINGS):
                (self.path / name).unlink(missing_ok=True)
        finished = info.state == "finished"
        replace_file(self.path / RUN_INFO, json_bytes(info), mode=PUBLIC if finished else PRIVATE)
        if finished:
            if self.tournament_file.is_file():
                replace_file(self.tournament_file, self.tournament_file.read_bytes())
            for name in (JOURNAL, INDEX):
                with suppress(FileNotFoundError):
                    shutil.copymode(self.path / RUN_INFO, self.path / name)

    def keep_tournament_file(self, file: Path) -> None:
        """Copy the tournament file to the directory; only the owner may read the copy."""
        replace_file(self.tournament_file, file.read_bytes(), mode=PRIVATE)

    @property
    def tournament_file(self) -> Path:
        """Path of the copy of the tournament file; runs of `match` and `duel` have no copy."""
        return self.path / TOURNAMENT

    @property
    def tournament_text(self) -> bytes | None:
        """Content of the copy of the tournament file; None without a copy."""
        path = self.tournament_file
        return read_bounded(path, LARGEST_FILE) if path.is_file() else None

    def write_public_key(self, pem: bytes) -> None:
        replace_file(self.path / "referee.pub", pem)

    def write_remote(self, info: RemoteInfo) -> None:
        replace_file(self.path / "remote.json", json_bytes(info))

    def remove_remote(self) -> None:
        (self.path / "remote.json").unlink(missing_ok=True)

    def write_standings(self, standings: Standings) -> bytes:
        """Write `standings.json` and return its content."""
        content = json_bytes(standings)
        replace_file(self.path / STANDINGS, content)
        return content

    def results_sha256(self) -> str:
        """Force `results.jsonl` to disk, and return its SHA-256 in hexadecimal."""
        os.fsync(self._results.fileno())
        return self._digest.hexdigest()

    def close(self) -> None:
        self._stack.close()


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Convert every expected error raised in the context to RunError."""
    try:
        yield
    except JournalError as error:
        raise RunError(str(error)) from None
    except OSError as error:
        what = error.strerror or error
        raise RunError(f"{error.filename or path}: cannot be written: {what}") from None


def block_journal(directory: Path, block: str) -> Path:
    """Return the path of the journal of a block in a run directory."""
    return directory / JOURNALS / f"{block}{_JOURNAL_SUFFIX}"


def block_journals(directory: Path) -> list[Path]:
    """Return the journals of all blocks in a run directory."""
    return sorted((directory / JOURNALS).glob(f"*{_JOURNAL_SUFFIX}"))


def ended_attempts(journal: Journal) -> Iterator[PlayedAttempt]:
    """Yield the attempts that were over when a journal was opened, in the order they ended.

    Raises JournalError.
    """
    for text, records in journal.ended:
        try:
            result = MatchResult.from_json(text)
        except ValueError as error:
            raise JournalError(f"{journal.path}: damaged ({error})") from None
        yield PlayedAttempt(result, () if result.void else records)


def wait_for_writers(directory: Path, most_s: float) -> None:
    """Wait until no worker of an earlier runner has a journal open.

    If a journal is still open after `most_s` seconds, raises JournalError with the process number.
    """
    deadline_s = time.monotonic() + most_s
    for path in block_journals(directory):
        while (process := known_holder(path)) is not None:
            if time.monotonic() > deadline_s:
                raise JournalError(f"{path}: {in_use(process)}")
            time.sleep(_CHECK_INTERVAL_S)


def has_run(path: Path) -> bool:
    """Return True if a run has begun in a directory; raises OSError."""
    journal = path / JOURNAL
    return journal.is_file() and journal.stat().st_size > 0


def _check_not_played(path: Path) -> None:
    """Raise RunError if a run is being played in the directory; may also raise OSError."""
    with suppress(FileNotFoundError):
        process = lock_holder(path / JOURNAL)
        if process is not None:
            which = f" by process {process}" if process else ""
            raise RunError(
                f"{path}: a run is being played in it{which}: wait until it is over, stop it, or "
                "choose another folder"
            )


def _check_never_begun(path: Path) -> None:
    """Raise RunError if a directory holds more than an unbegun run could leave there."""
    if has_run(path):
        raise RunError(
            f"{path}: already contains a run; choose another folder, such as {_free_beside(path)}, "
            "or delete that run first"
        )
    if not _was_never_begun(path):
        raise RunError(f"{path}: is not empty; choose a folder that is new or empty")


def _free_beside(path: Path) -> Path:
    """Return the path with the first number, from 2 on, with which nothing exists."""
    path = path if path.name else path.absolute()
    numbered = (path.with_name(f"{path.name}-{number}") for number in count_up(2))
    return next(one for one in numbered if not one.exists())


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
    """True if a run created this directory but was killed before it began."""
    names = {file.name for file in path.iterdir()}
    results = path / RESULTS
    written = results.exists() and results.stat().st_size > 0
    return JOURNAL in names and names <= _possible_names(path) and not written
