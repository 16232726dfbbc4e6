"""The journal: every input of every match, written to disk before its consequences are sent.

What running matches add between two commits is appended to a log at once, whatever matches it
belongs to; `running_log` has the format. A match is over if and only if its result is in an SQLite
file in WAL mode, whose table is in `journal_format`. The bytes of a record are those that the
replay will have.

The files hold the secrets of running matches, so only their owner may read them. One process can
have them open at a time: it holds SQLite's lock.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, NoReturn, Self

from asara_server.eventlog.disk_sync import DiskSync
from asara_server.eventlog.journal_check import check_journal
from asara_server.eventlog.journal_format import (
    GENESIS,
    SCHEMA,
    JournalError,
    PositionFile,
    ended_checksum,
    replay_checksum,
)
from asara_server.eventlog.running_log import OpenMatch, RunningLog, log_path
from asara_server.eventlog.sqlite_lock import lock_holder

__all__ = ["Ended", "Journal", "JournalError", "OpenMatch"]


_END: Final = (
    "INSERT INTO matches (ended, match_id, result, replay, replay_checksum, checksum) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)


class Ended(NamedTuple):
    """A match that is over."""

    match_id: str
    result: str
    """The text with which it was ended."""
    replay: bytes | None
    """Content of its replay file; None if it has none, or the file is known to be written."""


class Journal:
    """An open journal. As a context manager it commits what was added, and closes the file."""

    def __init__(self, path: Path) -> None:
        """Open a journal, which is created if it does not exist; raises JournalError.

        A journal that is damaged, or lacks commits that were made, is refused and not changed.
        """
        self.path = path
        self._failed: str | None = None
        self._sync = DiskSync(path.with_name(f"{path.name}-wal"))
        self._written: list[str] = []
        try:
            self._check_files()
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            self._database = sqlite3.connect(path, timeout=0, isolation_level=None)
            self._execute = self._database.execute
            self._open()
            self._ended, self._ended_checksum = self._last_ended()
            over = {match_id for (match_id,) in self._execute("SELECT match_id FROM matches")}
            self._log = RunningLog(log_path(path), over)
            opened = self._log.open_matches
            self._unfinished = {match.match_id: match for match in opened.values()}
            # Numbers of the matches that began and are not over, by name.
            self._numbers = {match.match_id: number for number, match in opened.items()}
            self._position = PositionFile(path)
            self._store_position()
        except (OSError, sqlite3.Error) as error:
            self._fail(error)

    def _check_files(self) -> None:
        """Raise JournalError if another process has the journal open, or it is not sound."""
        if self.path.exists() and (process := lock_holder(self.path)) is not None:
            raise JournalError(f"{self.path}: {in_use(process)}")
        checked = check_journal(self.path)
        if checked.missing_commits:
            raise JournalError(f"{self.path}: {checked.loss}")

    def _open(self) -> None:
        self._execute("PRAGMA locking_mode = EXCLUSIVE")
        (held,) = self._execute("SELECT count(*) FROM sqlite_schema").fetchone()
        self._execute("PRAGMA journal_mode = WAL")
        self._execute("PRAGMA synchronous = NORMAL")
        self._execute("PRAGMA wal_autocheckpoint = 4000")  # each waits for the disk
        self._execute("BEGIN EXCLUSIVE")  # fails now if another process has the file open
        if not held:
            for statement in SCHEMA:
                self._execute(statement)
        self._execute("COMMIT")

    def _last_ended(self) -> tuple[int, bytes]:
        """Return the number of matches that are over, and the checksum of the last."""
        query = "SELECT ended, checksum FROM matches ORDER BY ended DESC LIMIT 1"
        return self._execute(query).fetchone() or (0, GENESIS)

    # Writing

    @property
    def pending(self) -> bool:
        """True if records were added since the last commit."""
        return self._log.pending

    def begin(self, match_id: str, header: bytes, tokens: Sequence[str]) -> int:
        """Begin a match; return the number under which its records are added."""
        number = self._numbers[match_id] = self._log.begin(match_id, header, tokens)
        return number

    def adopt(self, opened: OpenMatch) -> bool:
        """Take over and commit an unfinished match of another journal, which this one may hold in
        part; return False if it holds something else. Raises JournalError.
        """
        held = self._unfinished.get(opened.match_id)
        if held is None:
            number = self.begin(opened.match_id, opened.header, opened.tokens)
            records = opened.records
        elif (held.header, held.records) == (opened.header, opened.records[: len(held.records)]):
            number = self.number(opened.match_id)
            records = opened.records[len(held.records) :]
        else:
            return False
        for record in records:
            self.add(number, record)
        self.commit()
        self._unfinished[opened.match_id] = opened
        return True

    def add(self, number: int, record: bytes) -> None:
        """Add a record of a match, which the next commit writes."""
        self._log.add(number, record)

    def commit(self) -> None:
        """Write all that was added; raises JournalError, and does so again once it has failed."""
        if not self._log.pending:
            return
        try:
            self._check()
            self._log.commit()
            self._store_position()
        except OSError as error:
            self._fail(error)

    def end(self, match_id: str, result: str, replay: bytes | None) -> None:
        """End a match, and commit all that was added; raises JournalError."""
        number = self._numbers.pop(match_id, 0)  # 0 if the match failed before it began
        self._unfinished.pop(match_id, None)
        about_replay = None if replay is None else replay_checksum(replay)
        checksum = ended_checksum(self._ended_checksum, match_id, result, about_replay)
        row = self._ended + 1, match_id, result, replay, about_replay, checksum
        self.commit()
        with self._transaction():
            self._execute(_END, row)
            self._drop_written()
        self._ended += 1
        self._ended_checksum = checksum
        try:
            self._log.drop(number)
            self._store_position()
        except OSError as error:
            self._fail(error)
        self._sync.request()

    def written(self, match_id: str) -> None:
        """Drop the replay of a match, whose file is written, with the next transaction."""
        self._written.append(match_id)

    def _store_position(self) -> None:
        self._position.write(self._log.commits, self._ended, self._log.checksum)

    def _drop_written(self) -> None:
        for match_id in self._written:
            self._execute("UPDATE matches SET replay = NULL WHERE match_id = ?", (match_id,))
        self._written.clear()

    # Reading

    @property
    def unfinished(self) -> dict[str, OpenMatch]:
        """By name, the matches that had begun and were not over when the journal was opened.

        A match that ends, or that the owner takes from it, is removed.
        """
        return self._unfinished

    def number(self, match_id: str) -> int:
        """Return the number of a match that is not over; raises KeyError."""
        return self._numbers[match_id]

    def ended(self) -> Iterator[Ended]:
        """Yield the matches that are over, in the order in which they ended."""
        for row in self._execute("SELECT match_id, result, replay FROM matches ORDER BY ended"):
            yield Ended(*row)

    def replay(self, match_id: str) -> bytes | None:
        """Return the replay of a match that is over; None if it has none, or its file is written.

        Raises JournalError.
        """
        query = "SELECT replay FROM matches WHERE match_id = ?"
        try:
            row = self._execute(query, (match_id,)).fetchone()
        except sqlite3.Error as error:
            self._fail(error)
        return None if row is None else row[0]

    # Closing and failing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit what was added, and close the file; raises JournalError."""
        try:
            if self._failed is None:
                self.commit()
                with self._transaction():
                    self._drop_written()
        finally:
            self._sync.close()
            self._database.close()
            self._log.close()
            self._position.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit what is done to the database in the context."""
        try:
            self._check()
            self._execute("BEGIN IMMEDIATE")
            yield
            self._execute("COMMIT")
        except sqlite3.Error as error:
            self._fail(error)

    def _check(self) -> None:
        if self._failed is not None:
            raise JournalError(self._failed)
        if self._sync.error is not None:
            self._fail(self._sync.error)

    def _fail(self, error: OSError | sqlite3.Error) -> NoReturn:
        path = getattr(error, "filename", None) or self.path
        self._failed = f"{path}: {_cause(error)}"
        raise JournalError(self._failed) from None


def in_use(process: int) -> str:
    """Return that a process has a run open, in words; 0 stands for an unknown one."""
    which = f" (process {process})" if process else ""
    return f"another program has it open{which}: wait until that run is over, or stop it"


_FULL: Final = "the disk is full: make room, then continue with --resume"


def _cause(error: OSError | sqlite3.Error) -> str:
    if isinstance(error, OSError):
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return _FULL
        return error.strerror or str(error)
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return in_use(0)
        case sqlite3.SQLITE_FULL:
            return _FULL
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return f"damaged ({error})"
    return str(error)
