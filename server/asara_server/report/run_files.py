"""What a report reads from a run's directory, apart from the results."""

import os
from dataclasses import dataclass
from pathlib import Path

from asara_server.replay.signing import PUBLIC_KEY_FILE, KeyFileError, read_public_key
from asara_server.tournament.run.read_run import directories_of

SUFFIX = ".asara"


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Replays and key of a run, in whatever state the run is."""

    replays: Path
    published: frozenset[str]
    """Names of the matches that have a replay file. Links do not count."""
    public_key: bytes | None
    """The key that should have signed the replays, 32 bytes; None if it cannot be read."""
    private: tuple[str, ...]
    """Directories that contain the run; their names are left out of everything published."""
    problems: tuple[str, ...]
    """Files that could not be read, with the reason."""


def read_run_files(directory: Path) -> RunFiles:
    problems = []
    key = None
    try:
        key = read_public_key(directory / PUBLIC_KEY_FILE)
    except KeyFileError as error:
        # without the path of the run, because the page is published
        problems.append(str(error).removeprefix(f"{directory}/"))
    replays = directory / "replays"
    names = []
    try:
        with os.scandir(replays) as found:
            names = [
                file.name.removesuffix(SUFFIX)
                for file in found
                if file.name.endswith(SUFFIX) and not file.is_symlink()
            ]
    except OSError as error:
        problems.append(f"{replays.name}: {error.strerror}")
    return RunFiles(replays, frozenset(names), key, directories_of(directory), tuple(problems))
