"""What a run has played so far, read from its directory."""

from pathlib import Path
from typing import NamedTuple

from asara_server.tournament.run.directory import RunDirectoryError, RunInfo, read_info
from asara_server.tournament.standings.match_result import MatchResult, ResultsError, read_results


class RunError(ValueError):
    """A run that cannot be read; the text says which file, and why."""


class NoRunError(RunError):
    """A directory that holds none."""


class RecordedRun(NamedTuple):
    info: RunInfo
    results: tuple[MatchResult, ...]
    """In the order of the file, void ones too."""

    @property
    def scheduled(self) -> int:
        """Matches of the whole run; in runs of earlier versions, those that are known."""
        return self.info.scheduled or len({result.match_id for result in self.results})


def read_run(directory: Path) -> RecordedRun:
    """The run in a directory, also one that goes on; raises RunError."""
    if not (directory / "run.json").is_file():
        raise NoRunError(f"{directory}: holds no run; name a directory that --out named")
    path = directory / "results.jsonl"
    try:
        return RecordedRun(read_info(directory), tuple(read_results(path)))
    except (RunDirectoryError, ResultsError) as error:
        raise RunError(str(error)) from None
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "not a text file"
        raise RunError(f"{path}: {what}") from None
