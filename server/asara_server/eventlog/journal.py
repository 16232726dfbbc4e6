"""The journal: every input of every match, written to disk before its consequences are sent.

It is an SQLite file in WAL mode. Everything added between two commits becomes one row of `log`,
whatever matches it belongs to: frames, each the number of a match (varint) and a record preceded by
its length. The bytes of a record are those that the replay will have. A match is over if and only
if its row has a result. `journal_format` has the tables and their checksums.

The file holds the secrets of running matches, so only its owner may read it. One process can have
it open at a time.
"""

import errno
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, NamedTuple, NoReturn, Self

from asara_codec.wire_format import delimited, varint
from asara_server.eventlog.disk_sync import DiskSync
from asara_server.eventlog.journal_check import check_journal
from asara_server.eventlog.journal_format import (
    GENESIS,
    SCHEMA,
    JournalError,
    PositionFile,
    begun_checksum,
    ended_checksum,
    log_checksum,
    replay_checksum,
    split_frames,
)
from asara_server.eventlog.sqlite_lock import lock_holder

__all__ = ["Durability", "Ended", "Journal", "JournalError", "OpenMatch"]

Durability = Literal["normal", "full"]
"""With "normal", a commit survives the death of the process, and the end of a match after a second
also a loss of power; with "full", every commit survives both."""

_APPEND: Final = "INSERT INTO log (id, frames, checksum) VALUES (?, ?, ?)"
_BEGIN: Final = (
    "INSERT INTO matches (number, match_id, header, tokens, checksum) VALUES (?, ?, ?, ?, ?)"
)
_END: Final = """
    INSERT INTO matches (number, match_id, result, ended, replay, replay_checksum, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (number) DO UPDATE SET
        header = NULL, tokens = NULL, result = excluded.result, ended = excluded.ended,
        replay = excluded.replay, replay_checksum = excluded.replay_checksum,
        checksum = excluded.checksum
"""


class OpenMatch(NamedTuple):
    """A match that began and is not over."""

    match_id: str
    header: bytes
    """First record of its replay."""
    tokens: tuple[str, ...]
    """Tokens of its bots, by seat."""
    records: tuple[bytes, ...]
    """The records that follow, in order."""


class Ended(NamedTuple):
    """A match that is over."""

    match_id: str
    result: str
    """The text with which it was ended."""
    replay: bytes | None
    """Content of its replay file; None if it has none, or the file is known to be written."""


class Journal:
    """An open journal. As a context manager it commits what was added, and closes the file."""

    def __init__(self, path: Path, durability: Durability = "normal") -> None:
        """Open a journal, which is created if it does not exist; raises JournalError.

        A journal that is damaged, or lacks commits that were made, is refused and not changed.
        """
        self.path = path
        self.cpu_s = 0.0
        """Processor seconds of all commits, in this thread."""
        self._durability = durability
        self._failed: str | None = None
        self._sync = DiskSync(path.with_name(f"{path.name}-wal"))
        # Added since the last commit.
        self._frames: list[bytes] = []
        self._begun: list[tuple[int, str, bytes, str, bytes]] = []
        self._written: list[str] = []
        # Of the matches that began and are not over: number by name, and by number a row of `log`
        # before which there is nothing of the match.
        self._numbers: dict[str, int] = {}
        self._first_rows: dict[int, int] = {}
        try:
            self._check_files()
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            self._database = sqlite3.connect(path, timeout=0, isolation_level=None)
            self._execute = self._database.execute
            self._open()
            self._next_row, self._checksum = self._last("id", "log")
            self._next_row += 1
            self._ended, self._ended_checksum = self._last("ended", "matches")
            self._next_number = 1 + self._last("number", "matches")[0]
            self._unfinished = self._read_unfinished()
            self._position = PositionFile(path, durable=durability == "full")
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
        held = self._number("SELECT count(*) FROM sqlite_schema")
        self._execute("PRAGMA page_size = 1024")  # commits write whole pages, most of them short
        self._execute("PRAGMA journal_mode = WAL")
        self._execute(f"PRAGMA synchronous = {self._durability}")
        self._execute("PRAGMA wal_autocheckpoint = 16000")
        self._execute("BEGIN EXCLUSIVE")  # fails now if another process has the file open
        if not held:
            for statement in SCHEMA:
                self._execute(statement)
        self._execute("COMMIT")

    def _number(self, query: str) -> int:
        return int(self._execute(query).fetchone()[0])

    def _last(self, column: str, table: str) -> tuple[int, bytes]:
        """Return the highest number in a column of a table, and the checksum of its row."""
        query = f"SELECT {column}, checksum FROM {table} WHERE {column} > 0 "  # noqa: S608
        row = self._execute(f"{query} ORDER BY {column} DESC LIMIT 1").fetchone()
        return row or (0, GENESIS)

    # Writing

    @property
    def pending(self) -> bool:
        """True if records were added since the last commit."""
        return bool(self._frames)

    def begin(self, match_id: str, header: bytes, tokens: Sequence[str]) -> int:
        """Begin a match; return the number under which its records are added."""
        number = self._next_number
        self._next_number += 1
        about = number, match_id, header, json.dumps(list(tokens))
        self._begun.append((*about, begun_checksum(*about)))
        self._numbers[match_id] = number
        self._first_rows[number] = self._next_row
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
        self._frames.append(varint(number) + delimited(record))

    def commit(self) -> None:
        """Write all that was added; raises JournalError, and does so again once it has failed."""
        if self._begun:
            with self._transaction():
                self._append()
        elif self._frames:
            began_s = time.thread_time()
            try:
                self._check()
                self._append()
                self._store_position()
            except (OSError, sqlite3.Error) as error:
                self._fail(error)
            self.cpu_s += time.thread_time() - began_s

    def end(self, match_id: str, result: str, replay: bytes | None) -> None:
        """End a match, and commit all that was added; raises JournalError."""
        number = self._numbers.pop(match_id, 0)
        if not number:  # the match failed before it began
            number = self._next_number
            self._next_number += 1
        self._first_rows.pop(number, None)
        self._unfinished.pop(match_id, None)
        about_replay = None if replay is None else replay_checksum(replay)
        with self._transaction():
            self._append()
            self._ended += 1
            self._ended_checksum = ended_checksum(
                self._ended_checksum, number, match_id, result, about_replay
            )
            about = number, match_id, result, self._ended, replay, about_replay
            self._execute(_END, (*about, self._ended_checksum))
            oldest = min(self._first_rows.values(), default=self._next_row)
            # The row before the oldest stays: the checksum of the oldest continues its checksum.
            self._execute("DELETE FROM log WHERE id < ?", (oldest - 1,))
            self._drop_written()
        if self._durability != "full":
            self._sync.request()

    def written(self, match_id: str) -> None:
        """Drop the replay of a match, whose file is written, with the next transaction."""
        self._written.append(match_id)

    def _append(self) -> None:
        for row in self._begun:
            self._execute(_BEGIN, row)
        frames = b"".join(self._frames)
        checksum = log_checksum(self._checksum, frames)
        self._execute(_APPEND, (self._next_row, frames, checksum))
        self._checksum = checksum
        self._next_row += 1
        self._begun.clear()
        self._frames.clear()

    def _store_position(self) -> None:
        self._position.write(self._next_row - 1, self._ended, self._checksum)

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
        for row in self._execute(
            "SELECT match_id, result, replay FROM matches WHERE ended > 0 ORDER BY ended"
        ):
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

    def _read_unfinished(self) -> dict[str, OpenMatch]:
        rows = self._execute(
            "SELECT number, match_id, header, tokens FROM matches WHERE result IS NULL"
        ).fetchall()
        records: dict[int, list[bytes]] = {number: [] for number, *_ in rows}
        for row, frames in self._execute("SELECT id, frames FROM log ORDER BY id"):
            for number, record in split_frames(frames):
                if number in records:
                    self._first_rows.setdefault(number, row)
                    records[number].append(record)
        found = {}
        for number, match_id, header, tokens in rows:
            self._numbers[match_id] = number
            self._first_rows.setdefault(number, self._next_row)
            held = tuple(records[number])
            found[match_id] = OpenMatch(match_id, header, tuple(json.loads(tokens)), held)
        return found

    # Closing and failing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit what was added, and close the file; raises JournalError."""
        try:
            if self._failed is None:
                with self._transaction():
                    if self._begun or self._frames:
                        self._append()
                    self._drop_written()
        finally:
            self._sync.close()
            self._database.close()
            self._position.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit what is done in the context."""
        began_s = time.thread_time()
        try:
            self._check()
            self._execute("BEGIN IMMEDIATE")
            yield
            self._execute("COMMIT")
            self._store_position()
        except (OSError, sqlite3.Error) as error:
            self._fail(error)
        self.cpu_s += time.thread_time() - began_s

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
