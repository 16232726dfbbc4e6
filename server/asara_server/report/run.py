"""The files of a run that a report is made from."""

from dataclasses import dataclass
from pathlib import Path

from asara_server.replay.signing import PUBLIC_KEY_FILE, KeyFileError, read_public_key
from asara_server.tournament.run.read_run import RecordedRun, directories_of, read_run


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A finished, stopped or running run."""

    recorded: RecordedRun
    replays: Path
    replay_names: frozenset[str]
    """Names of the files `NAME.asara` in `replays`."""
    public_key: bytes | None
    """Key that should have signed the replays, 32 bytes; None if it cannot be read."""
    private: tuple[str, ...]
    """Directories that hold the run, which are left out of everything that is published."""
    problems: tuple[str, ...]
    """Other files that could not be read, with the reason."""


def read_reported_run(directory: Path) -> ReportedRun:
    """Read the run in a directory; raise RunError if there is none or it cannot be read."""
    recorded = read_run(directory)
    problems = []
    key = None
    try:
        key = read_public_key(directory / PUBLIC_KEY_FILE)
    except KeyFileError as error:
        # without the path of the run, because the page is published
        problems.append(str(error).removeprefix(f"{directory}/"))
    replays = directory / "replays"
    try:
        names = frozenset(file.name for file in replays.iterdir() if file.suffix == ".asara")
    except OSError as error:
        names = frozenset()
        problems.append(f"{replays.name}: {error.strerror}")
    return ReportedRun(recorded, replays, names, key, directories_of(directory), tuple(problems))
