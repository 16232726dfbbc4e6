"""What a run left on disk, read for a report."""

from dataclasses import dataclass
from pathlib import Path

from asara_server.replay.signing import PUBLIC_KEY_FILE, KeyFileError, read_public_key
from asara_server.tournament.run.read_run import RecordedRun, read_run


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run that is over, was stopped, or goes on."""

    played: RecordedRun
    replays: Path
    replay_names: frozenset[str]
    """Files of the folder that may be replays: `NAME.asara`."""
    public_key: bytes | None
    """32 bytes; whose signature the replays should have."""
    problems: tuple[str, ...]
    """What else could not be read, and is left out."""


def read_reported_run(directory: Path) -> ReportedRun:
    """The run in a directory; raises RunError where it has none, or it cannot be read."""
    played = read_run(directory)
    problems = []
    key = None
    try:
        key = read_public_key(directory / PUBLIC_KEY_FILE)
    except KeyFileError as error:
        # without where the run is: the page goes to others
        problems.append(str(error).removeprefix(f"{directory}/"))
    replays = directory / "replays"
    try:
        names = frozenset(file.name for file in replays.iterdir() if file.suffix == ".asara")
    except OSError as error:
        names = frozenset()
        problems.append(f"{replays.name}: {error.strerror}")
    return ReportedRun(played, replays, names, key, tuple(problems))
