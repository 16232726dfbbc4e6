"""Reads a run from its journal, also while it is played."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from asara_server.eventlog.journal import Fact, JournalError, split_line
from asara_server.eventlog.line_index import LineFollower
from asara_server.tournament.run.directory import INDEX, JOURNAL, RunError
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
        except (JournalError, ValueError) as error:
            self._start_over()
            raise RunError(str(error)) from None
        except OSError as error:
            why = error.strerror or error
            raise RunError(f"{error.filename or self._path}: {why}") from None

    def _add(self, line: bytes) -> None:
        try:
            kind, _, text = split_line(line)
            if kind == "result":
                self.attempts += 1
                if not self._counts_only:
                    self.results.append(MatchResult.from_json(text))
            elif kind != "match":
                self.record.add(Fact(kind, json.loads(text)))
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]["msg"]
            raise ValueError(f"{self._path}: result {self.attempts}: {fault}") from None
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{self._path}: {error}") from None


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
