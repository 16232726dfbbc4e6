"""The served runs by the names under which the page shows them, and the list of them."""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

from asara_server.text import plain
from asara_server.tournament.run.directory import RunError, has_run
from asara_server.tournament.run.read_run import RunJournal
from asara_server.tournament.run.status import read_state
from asara_server.web.live_matches import LiveRun
from asara_server.web.responses import WebError

_MOST_RUNS: Final = 1_000
_FRESH_S: Final = 1.0
"""Seconds for which a list of directories is cached."""


class SourceKind(Enum):
    RUN = "run"
    REPLAYS = "replays"
    """A folder of replays without a run, such as the output of `asara play --out`."""


@dataclass(frozen=True, slots=True)
class Source:
    """A run or a folder of replays."""

    name: str
    """Unique name, which is part of the source's web address."""
    directory: Path
    kind: SourceKind

    @property
    def replays(self) -> Path:
        """Folder that contains the replays."""
        return self.directory / "replays" if self.kind is SourceKind.RUN else self.directory


class RunCatalogue:
    """Finds the runs in the served directories, and looks for new ones from time to time.

    Requests refer to runs by name only, so that no request can contain a path.
    """

    def __init__(self, directories: Iterable[Path]) -> None:
        self._directories = tuple(directories)
        self._found: dict[str, Source] = {}
        self._looked_at_s = float("-inf")
        self._logs: dict[Path, RunJournal] = {}
        """Journals of runs, of which only what was added is read again."""
        self._lock = threading.Lock()
        self._live: dict[Path, LiveRun] = {}

    def sources(self) -> dict[str, Source]:
        """Return the runs by name."""
        if time.monotonic() - self._looked_at_s > _FRESH_S:
            self._look()
        return self._found

    def find(self, name: str) -> Source:
        """Return the run of this name; raise WebError if there is none."""
        if name not in self.sources():
            self._look()  # it may have begun just now
        if name not in self._found:
            raise WebError(404, f"there is no run {plain(name, 100)!r}; was it moved or deleted?")
        return self._found[name]

    def _look(self) -> None:
        self._looked_at_s = time.monotonic()
        self._found = dict(_named(self._directories))

    def live(self, source: Source) -> LiveRun:
        """Return the running matches of a source."""
        folder = source.directory
        if folder not in self._live:
            self._live[folder] = LiveRun(folder)
        return self._live[folder]

    async def close(self) -> None:
        """End the watching of running matches."""
        for live in self._live.values():
            await live.close()

    def summaries(self) -> list[dict[str, Any]]:
        """Return the list of runs in JSON: unfinished ones first, then the latest."""
        with self._lock:
            runs = [self._summary(source) for source in self.sources().values()]
        runs.sort(key=lambda run: (run["state"] == "running", run["started"]), reverse=True)
        return runs

    def _summary(self, source: Source) -> dict[str, Any]:
        found: dict[str, Any] = {
            "name": source.name,
            "kind": source.kind.value,
            "title": plain(source.name),
            "state": "finished",
            "started": "",
            "entries": 0,
            "over": 0,
            "scheduled": 0,
            "leader": "",
            "leader_ranks": None,
        }
        if source.kind is SourceKind.REPLAYS:
            with suppress(OSError):
                found["over"] = sum(path.suffix == ".asara" for path in source.directory.iterdir())
            return found
        directory = source.directory
        log = self._logs.setdefault(directory, RunJournal(directory, counts_only=True))
        try:
            state, _ = read_state(log)
        except RunError:
            return found | {"state": "unreadable"}
        info = log.info
        return found | {
            "title": plain(info.title),
            "state": state.value,
            "started": plain(info.started),
            "entries": len(info.entries),
            "over": log.attempts,
            "scheduled": info.scheduled,
            "leader": plain(info.leader),
            "leader_ranks": info.leader_ranks,
        }


def kind_of(directory: Path) -> SourceKind | None:
    """Return the kind of a directory; None if it contains nothing that can be served."""
    try:
        if has_run(directory):
            return SourceKind.RUN
        with os.scandir(directory) as entries:
            if any(entry.name.endswith(".asara") for entry in entries):
                return SourceKind.REPLAYS
    except OSError:
        pass
    return None


def _named(directories: Iterable[Path]) -> Iterator[tuple[str, Source]]:
    taken: set[str] = set()
    for directory, kind in _found_in(directories):
        stem = directory.absolute().name or "run"
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name)
        yield name, Source(name, directory, kind)
        if len(taken) == _MOST_RUNS:
            return


def _found_in(directories: Iterable[Path]) -> Iterator[tuple[Path, SourceKind]]:
    for directory in directories:
        kind = kind_of(directory)
        if kind is not None:
            yield directory, kind
            continue
        for child in _folders(directory):
            kind = kind_of(child)
            if kind is not None:
                yield child, kind


def _folders(directory: Path) -> list[Path]:
    """Return the folders in a directory, without links."""
    try:
        with os.scandir(directory) as entries:
            return sorted(
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            )
    except OSError:
        return []
