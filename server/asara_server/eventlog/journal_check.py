"""Checks a journal before it is opened for writing.

A private copy is checked, because SQLite moves what it found in a write-ahead log into the database
and removes the rest: the files of a journal that is refused stay as they were.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asara_server.eventlog.journal_format import (
    APPLICATION,
    GENESIS,
    RESTORE,
    VERSION,
    JournalError,
    Position,
    boot_id,
    ended_checksum,
    position_path,
    replay_checksum,
)
from asara_server.eventlog.running_log import LogContent, log_path, read_log

_LARGEST: Final = 2 << 30
"""Bytes of the largest database; the one of 100,000 matches has some 100 MiB."""


@dataclass(frozen=True, slots=True)
class CheckedJournal:
    """What a sound journal holds."""

    commits: int
    """Number of the last commit to its log."""
    missing_commits: int
    """Number of commits that were made and are not there, the ends of matches included."""
    ended: Mapping[str, str]
    """By name, the results of the matches that are over, in the order in which they ended."""
    replays: Mapping[str, bytes]
    """By name, the checksums of the replays of these matches that should be in their files."""

    @property
    def loss(self) -> str:
        """Sentence about the missing commits; "" if there are none."""
        if not self.missing_commits:
            return ""
        commits = "commit" if self.missing_commits == 1 else "commits"
        return (
            f"lacks the last {self.missing_commits:,} {commits}: its log or write-ahead log was "
            "damaged or removed"
        )


def check_journal(path: Path) -> CheckedJournal:
    """Return what a journal holds after checking all of it; raises JournalError.

    A journal that does not exist or is empty is sound and holds nothing.
    """
    try:
        position = Position.read(position_path(path))
        with tempfile.TemporaryDirectory(prefix="asara-journal-") as folder:
            copy = Path(folder) / path.name
            for name in (path.name, f"{path.name}-wal"):
                _copy(path.with_name(name), copy.with_name(name))
            if not copy.exists() or not copy.stat().st_size:
                copy.touch()
            with closing(sqlite3.connect(copy, isolation_level=None)) as database:
                return _Check(path, database, read_log(log_path(path))).run(position)
    except OSError as error:
        raise JournalError(f"{error.filename or path}: {error.strerror or error}") from None
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise JournalError(f"{path}: damaged ({error}); {RESTORE}") from None


def _copy(source: Path, copy: Path) -> None:
    if not source.is_file():
        return
    if source.stat().st_size > _LARGEST:
        raise JournalError(f"{source}: larger than {_LARGEST >> 30} GiB, and so than any journal")
    shutil.copyfile(source, copy)


class _Check:
    """The check of one journal."""

    def __init__(self, path: Path, database: sqlite3.Connection, log: LogContent) -> None:
        self._path = path
        self._execute = database.execute
        self._log = log

    def run(self, position: Position | None) -> CheckedJournal:
        """Check everything; raises JournalError, or sqlite3.Error for a damaged database."""
        ended: dict[str, str] = {}
        replays: dict[str, bytes] = {}
        if self._number("SELECT count(*) FROM sqlite_schema"):
            self._check_format()
            self._check_database()
            self._check_ended(ended, replays)
        missing = 0 if position is None else self._missing(position, len(ended))
        return CheckedJournal(self._log.commits, missing, ended, replays)

    def _number(self, query: str) -> int:
        return int(self._execute(query).fetchone()[0])

    def _check_format(self) -> None:
        application = self._number("PRAGMA application_id")
        version = self._number("PRAGMA user_version")
        if application != APPLICATION:
            raise JournalError(f"{self._path}: not a journal of matches")
        if version != VERSION:
            raise JournalError(
                f"{self._path}: journal format {version}; this program has format {VERSION}: "
                "use the version of the program that wrote it"
            )

    def _check_database(self) -> None:
        [fault] = self._execute("PRAGMA integrity_check(1)").fetchone()
        if fault != "ok":
            raise self._damaged(" ".join(fault.split()))

    def _check_ended(self, ended: dict[str, str], replays: dict[str, bytes]) -> None:
        """Check the matches that are over, and store their results and replays."""
        before = GENESIS
        for place, name, result, replay, about_replay, checksum in self._execute(
            "SELECT ended, match_id, result, replay, replay_checksum, checksum FROM matches "
            "ORDER BY ended"
        ):
            before = ended_checksum(before, name, result, about_replay)
            if place != len(ended) + 1 or before != checksum:
                raise self._damaged(f"the result of match {name} has another checksum")
            if replay is not None and replay_checksum(replay) != about_replay:
                raise self._damaged(f"the replay of match {name} has another checksum")
            ended[name] = result
            if replay is None and about_replay is not None:
                replays[name] = about_replay

    def _missing(self, position: Position, ended: int) -> int:
        """Return how many commits are missing that the journal should hold.

        After the system was restarted, the last commits may be missing, because they had not been
        forced to disk; but no result may.
        """
        held = self._log.checksums.get(position.commits)
        if held is not None and held != position.checksum:
            raise self._damaged(f"commit {position.commits} is not the one that was made")
        if position.boot != boot_id() and ended >= position.ended:
            return 0
        lost_ends = max(position.ended - ended, 0)
        return max(position.commits - self._log.commits, 0) + lost_ends

    def _damaged(self, fault: str) -> JournalError:
        return JournalError(f"{self._path}: damaged: {fault}; {RESTORE}")
