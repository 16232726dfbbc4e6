"""Reads a run from its journal, also while it is played."""

import hashlib
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from asara_server.bounded_file import open_evidence
from asara_server.journal.journal import Fact, JournalError, split_line
from asara_server.journal.line_index import LineFollower
from asara_server.journal.rows import MAGIC, RowReader, row_bytes
from asara_server.tournament.run.directory import INDEX, JOURNAL, RunError
from asara_server.tournament.run.run_record import Lives, RunInfo, RunRecord, process_rows
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import Standings

NOT_A_RUN: Final = (
    "not the folder of a run; pass the folder that you gave to --out when you started the run"
)


@dataclass(slots=True)
class JournalAudit:
    """What only an audit needs to know about a journal; see `RunJournal.read_all`."""

    lives: Lives = field(default_factory=Lives)
    """The lives of the bots' processes."""
    results: "hashlib._Hash" = field(default_factory=sha256)
    """Hash of the `results.jsonl` that follows from the journal."""
    rewritten: list[int] = field(default_factory=list)
    """Numbers, from 1, of the results that are not in the form in which asara writes them."""
    sha256: str = ""
    """SHA-256 of the journal without its last row; "" if it cannot be read to its end."""


class RunJournal:
    """A run as its journal describes it, up to the last row that was read."""

    info: RunInfo
    """What is known about the run after `read` or `read_all`."""

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
        self._audit: JournalAudit | None = None

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

    def read_all(self, audit: JournalAudit) -> None:
        """Read every row, without the index, which could leave rows out; call it once.

        Raises RunError, whose text begins with the journal's name. What the rows before a damaged
        row describe is kept.
        """
        self._audit, name = audit, Path(JOURNAL)
        before, digest = sha256(), sha256(MAGIC)
        try:
            with open_evidence(self._path, sys.maxsize) as file:
                reader = RowReader(file, name)
                for row in reader.rows():
                    before = digest.copy()
                    digest.update(row_bytes(reader.content, reader.checksum))
                    try:
                        for number, data in row:
                            if not number:
                                self._add(data)
                    except ValueError as error:
                        raise reader.damaged(str(error)) from None
            audit.sha256 = before.hexdigest()
            self.info = self.record.info(name)
        except FileNotFoundError:
            raise RunError(f"{name}: missing; it contains the manifest and all results") from None
        except JournalError as error:
            raise RunError(str(error)) from None
        except OSError as error:
            raise RunError(f"{name}: {error.strerror or error}") from None

    def _add(self, line: bytes) -> None:
        """Take the next line about the run; raises ValueError."""
        kind, _, text = split_line(line)
        if kind == "result":
            self.attempts += 1
            if self._counts_only:
                return
            try:
                result = MatchResult.from_json(text)
            except ValidationError as error:
                fault = error.errors(include_url=False)[0]["msg"]
                raise ValueError(f"result {self.attempts}: {fault}") from None
            self.results.append(result)
            if self._audit is not None:
                self._audit.results.update(f"{text}\n".encode())
                if result.to_json() != text:
                    self._audit.rewritten.append(self.attempts)
        elif kind != "match":
            try:
                fact = Fact(kind, json.loads(text))
            except RecursionError as error:
                raise ValueError(str(error)) from None
            self.record.add(fact)
            if self._audit is not None:
                for row in process_rows([fact], Path(JOURNAL)):
                    self._audit.lives.add(row)


def read_run(directory: Path) -> RunJournal:
    """Return the run in a directory, even if it is still being played; raises RunError."""
    run = RunJournal(directory)
    run.read()
    return run


def read_ended_run(directory: Path) -> RunJournal:
    """Return a run that has ended, so that its deals are no secret; raises RunError."""
    run = read_run(directory)
    if run.info.state in {"prepared", "running"}:
        raise RunError(
            f"{directory}: this run has not ended, and its deals are secret until then; wait for "
            "the end, or continue it with `asara tournament run … --resume`"
        )
    return run


def run_standings(info: RunInfo, results: Iterable[MatchResult]) -> Standings:
    """Return the standings computed from these results of a run."""
    # Loads numerical libraries, which programs that only read a run do not need.
    from asara_server.tournament.standings.standings import compute_standings

    return compute_standings(
        info.title,
        info.entries,
        info.scheduled,
        tuple(results),
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
