"""The list of runs: a few facts about each, without reading its results."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from asara_server.bounded_file import MIB, open_ordinary, read_bounded
from asara_server.network.live_file import LiveFile
from asara_server.text import plain
from asara_server.tournament.run.directory import RunDirectoryError
from asara_server.tournament.run.status import RESULTS, RunState, read_state
from asara_server.tournament.standings.model import Standings
from asara_server.web.run_catalogue import Source, SourceKind

_STANDINGS: Final = "standings.json"
_LARGEST_STANDINGS: Final = 64 * MIB
_CHUNK: Final = MIB


class RunSummaries:
    """Summaries of runs; what was counted in a file is kept until it changes."""

    def __init__(self) -> None:
        self._lines: dict[Path, tuple[tuple[int, int], int]] = {}
        self._leaders: dict[Path, tuple[tuple[int, int], str]] = {}

    def of(self, sources: Iterable[Source]) -> list[dict[str, Any]]:
        """Return the runs: unfinished ones first, then the latest."""
        runs = [self._summary(source) for source in sources]
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
        }
        if source.kind is SourceKind.REPLAYS:
            with suppress(OSError):
                if LiveFile.is_offered(source.directory):
                    found["state"] = RunState.RUNNING.value
                found["over"] = sum(path.suffix == ".asara" for path in source.directory.iterdir())
            return found
        try:
            info, state, _ = read_state(source.directory)
        except (RunDirectoryError, OSError):
            return found | {"state": "unreadable"}
        if state is RunState.FINISHED:
            found["leader"] = self._leader(source.directory / _STANDINGS)
        return found | {
            "title": plain(info.title),
            "state": state.value,
            "started": plain(info.started),
            "entries": len(info.entries),
            "over": self._count_lines(source.directory / RESULTS),
            "scheduled": info.scheduled,
        }

    def _count_lines(self, path: Path) -> int:
        try:
            with open_ordinary(path) as file:
                about = os.fstat(file.fileno())
                seen = about.st_ino, about.st_size
                (inode, offset), lines = self._lines.get(path, ((about.st_ino, 0), 0))
                if inode != about.st_ino or offset > about.st_size:  # another file
                    offset = lines = 0
                file.seek(offset)
                while offset < about.st_size:
                    chunk = file.read(min(_CHUNK, about.st_size - offset))
                    if not chunk:
                        break
                    offset += len(chunk)
                    lines += chunk.count(b"\n")
        except OSError:
            return 0
        self._lines[path] = seen, lines
        return lines

    def _leader(self, path: Path) -> str:
        """Return the entry in first place of a finished run; "" if that is not known."""
        try:
            about = path.stat()
            seen = about.st_mtime_ns, about.st_size
            known = self._leaders.get(path)
            if known is not None and known[0] == seen:
                return known[1]
            rows = Standings.model_validate_json(read_bounded(path, _LARGEST_STANDINGS)).overall
        except (OSError, ValidationError):
            return ""
        leader = plain(rows[0].entry) if rows and rows[0].matches else ""
        self._leaders[path] = seen, leader
        return leader
