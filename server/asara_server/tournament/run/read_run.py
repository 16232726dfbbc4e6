"""Reads a run and its results from its directory."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from asara_server.tournament.run.directory import RunDirectoryError, RunInfo, read_info
from asara_server.tournament.run.status import RESULTS, RunStatus, StatusReader
from asara_server.tournament.standings.match_result import MatchResult, ResultsError, read_results
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.standings.standings import compute_standings
from asara_server.user_error import UserError

NOT_A_RUN: Final = (
    "not the folder of a run; pass the folder that you gave to --out when you started the run"
)


class RunError(UserError, ValueError):
    """Raised if a run cannot be read; the text gives the file and the reason."""


class RecordedRun(NamedTuple):
    info: RunInfo
    results: tuple[MatchResult, ...]
    """Results in the order of the file, including void results."""


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


def read_run(directory: Path) -> RecordedRun:
    """Return the run in a directory, even if it is still being played; raises RunError."""
    with _run_errors(directory):
        return RecordedRun(read_info(directory), tuple(read_results(directory / RESULTS)))


def read_status(directory: Path) -> tuple[RunStatus, list[MatchResult]]:
    """Return the run in a directory together with its progress; raises RunError."""
    with _run_errors(directory):
        reader = StatusReader(directory)
        return reader.read(), reader.results


@contextmanager
def _run_errors(directory: Path) -> Iterator[None]:
    if not os.path.isfile(directory / "run.json"):  # noqa: PTH113 - it takes a path of any length
        raise RunError(f"{directory}: {NOT_A_RUN}")
    try:
        yield
    except (RunDirectoryError, ResultsError) as error:
        raise RunError(str(error)) from None
    except OSError as error:
        place = error.filename or directory / RESULTS
        raise RunError(f"{place}: {error.strerror or error}") from None


def directories_of(directory: Path) -> tuple[str, ...]:
    """Return a directory and its parents, except the root and the directories directly in the root.

    Published texts are searched for these paths; see `without_paths`.
    """
    both = (directory.absolute(), directory.resolve())
    found = {path for own in both for path in (own, *own.parents) if len(path.parts) > 2}
    return tuple(sorted(map(str, found)))
