"""Reads a run from its journal, also while it is played."""

import json
import sys
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from asara_server.bounded_file import open_evidence
from asara_server.eventlog.journal import Fact, JournalError, split_line
from asara_server.eventlog.line_index import LineFollower
from asara_server.eventlog.log_file import MAGIC, LogReader, row_bytes
from asara_server.tournament.run.directory import INDEX, JOURNAL, RunError
from asara_server.tournament.run.process_record import Lives, process_rows
from asara_server.tournament.run.run_record import RunInfo, RunRecord
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.standings.standings import compute_standings

NOT_A_RUN: Final = (
    "not the folder of a run; pass the folder that you gave to --out when you started the run"
)


class RunLog:
    """A run as its journal describes it, up to the last row that was read."""

    info: RunInfo
    """What is known about the run after `read`."""

    def __init__(self, directory: Path, *, counts_only: bool = False) -> None:
        """With `counts_only`, the results are counted, and not kept."""
        self.directory = directory
        self._counts_only = counts_only
        self._path = directory / JOURNAL
        self._start_over()

    def _start_over(self) -> None:
        self.record = RunRecord()
        self.results: list[MatchResult] = []
        """Results of all attempts, in the order in which they ended."""
        self.attempts = 0
        """Number of results."""
        self._follower = LineFollower(self._path, self.directory / INDEX)

    def read(self) -> None:
        """Read what is new, or everything if the journal was replaced; raises RunError."""
        try:
            if self._follower.is_replaced():
                self._start_over()
            for line in self._follower.news():
                self._add(line)
            self.info = self.record.info(self._path)
        except (FileNotFoundError, NotADirectoryError):
            raise RunError(f"{self.directory}: {NOT_A_RUN}") from None
        except JournalError as error:
            self._start_over()
            raise RunError(str(error)) from None
        except ValueError as error:
            self._start_over()
            raise RunError(f"{self._path}: {error}") from None
        except OSError as error:
            why = error.strerror or error
            raise RunError(f"{error.filename or self._path}: {why}") from None

    def _add(self, line: bytes) -> None:
        """Take the next line about the run; raises ValueError."""
        kind, _, text = split_line(line)
        if kind == "result":
            self.attempts += 1
            if self._counts_only:
                return
            try:
                self.results.append(MatchResult.from_json(text))
            except ValidationError as error:
                fault = error.errors(include_url=False)[0]["msg"]
                raise ValueError(f"result {self.attempts}: {fault}") from None
        elif kind != "match":
            self.record.add(Fact(kind, _json(text)))


class WholeRunLog(RunLog):
    """A run as every row of its journal describes it, for an audit.

    A journal that cannot be read to its end leaves here what its first rows say.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.lives = Lives()
        """The lives of the bots' processes."""
        self.rewritten: list[int] = []
        """Numbers, from 1, of the results that are not in the form in which asara writes them."""
        self.sha256 = ""
        """SHA-256 of the journal without its last row; "" if it cannot be read to its end."""
        self._results = sha256()

    @property
    def results_sha256(self) -> str:
        """SHA-256 of the `results.jsonl` that follows from the journal."""
        return self._results.hexdigest()

    def read(self) -> None:
        """Read the journal, and not its index, which may leave rows out.

        Raises RunError, whose text begins with the journal's name.
        """
        name = Path(JOURNAL)
        try:
            with open_evidence(self._path, sys.maxsize) as file:
                self._read_rows(LogReader(file, name))
            self.info = self.record.info(name)
        except FileNotFoundError:
            raise RunError(f"{name}: missing; it contains the manifest and all results") from None
        except JournalError as error:
            raise RunError(str(error)) from None
        except OSError as error:
            raise RunError(f"{name}: {error.strerror or error}") from None

    def _read_rows(self, reader: LogReader) -> None:
        before, digest = sha256(), sha256(MAGIC)
        for row in reader.rows():
            before = digest.copy()
            digest.update(row_bytes(reader.content, reader.checksum))
            try:
                for number, data in row:
                    if not number:
                        self._add(data)
            except ValueError as error:
                raise reader.damaged(str(error)) from None
        self.sha256 = before.hexdigest()

    def _add(self, line: bytes) -> None:
        super()._add(line)
        kind, _, text = split_line(line)
        if kind == "result":
            self._results.update(f"{text}\n".encode())
            if self.results[-1].to_json() != text:
                self.rewritten.append(self.attempts)
        elif kind != "match":
            for row in process_rows([Fact(kind, _json(text))], Path(JOURNAL)):
                self.lives.add(row)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(str(error)) from None


def read_run(directory: Path) -> RunLog:
    """Return the run in a directory, even if it is still being played; raises RunError."""
    run = RunLog(directory)
    run.read()
    return run


def run_standings(info: RunInfo, results: Iterable[MatchResult]) -> Standings:
    """Return the standings computed from these results of a run."""
    results = tuple(results)
    return compute_standings(
        info.title,
        info.entries,
        info.scheduled,
        results,
        group=info.group,
        remote=info.remote,
        looks=info.looks,
    )


def directories_of(directory: Path) -> tuple[str, ...]:
    """Return a directory and its parents, except the root and the directories directly in the root.

    Published texts are searched for these paths; see `without_paths`.
    """
    both = (directory.absolute(), directory.resolve())
    found = {path for own in both for path in (own, *own.parents) if len(path.parts) > 2}
    return tuple(sorted(map(str, found)))
