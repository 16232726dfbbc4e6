"""A run whose files a test forges, and its audit."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from asara_server.replay.file import read_replay
from tests.cli.command import asara
from tests.match.playouts import replay_bytes
from tests.tournament.played_runs import (
    OTHER_KEY,
    Forger,
)

FIRST, SECOND, THIRD = "r1-basic-0001-1", "r1-basic-0001-2", "r1-basic-0002-1"
AGAIN = "r1-basic-0003-1"
"""A match that was attempted twice, since its first attempt is void."""


@dataclass(frozen=True)
class Played:
    """A run, and what was published before its first match."""

    run: Path
    key: Path
    manifest: str


def audited(played: Played, run: Path) -> tuple[int, str]:
    """Exit status and output of the audit by somebody who holds all that was published."""
    published = ("--public-key", played.key, "--manifest", played.manifest)
    done = asara("audit", run, *published)
    return done.returncode, done.stdout.replace(f"{run}/", "")


def replay(run: Path, name: str) -> Path:
    return run / "replays" / f"{name}.asara"


def edit(run: Path, name: str, old: str, new: str) -> None:
    """Replace the first occurrence of a text in a file; it must occur."""
    text = (run / name).read_text()
    assert old in text, text
    (run / name).write_text(text.replace(old, new, 1))


def edit_line(run: Path, name: str, number: int, change: Callable[[str], str]) -> None:
    """Change a line of a file; the number counts from 1."""
    lines = (run / name).read_text().splitlines(keepends=True)
    lines[number - 1] = change(lines[number - 1])
    (run / name).write_text("".join(lines))


def delete(*paths: Path) -> None:
    for path in paths:
        path.unlink()


def resign_everything(run: Path) -> None:
    """Sign each file again with another key, replays included."""
    forger = Forger(run, OTHER_KEY)
    (run / "referee.pub").write_bytes(OTHER_KEY.public_pem)
    public = {"public_key": OTHER_KEY.public.hex()}
    forger.manifest = forger.manifest.model_copy(update=public)
    for path in (run / "replays").iterdir():
        path.write_bytes(replay_bytes(read_replay(path), OTHER_KEY))
    forger.sign()


def assert_named(played: Played, run: Path, expected: str) -> None:
    """Check that the audit fails, and names what is wrong."""
    status, output = audited(played, run)
    assert re.search(expected, output), output
    assert status == 1
