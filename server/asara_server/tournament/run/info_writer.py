"""Changes of `run.json` when a run is resumed, and while entries are built."""

from collections.abc import Mapping
from importlib.metadata import version

from asara_server.tournament.run.directory import RunDirectory, RunInfo
from asara_server.tournament.standings.match_result import utc_now


def resumed_info(info: RunInfo, left_out: Mapping[str, str]) -> RunInfo:
    """Return the content of `run.json` for resuming a run, which may only be prepared so far.

    `left_out` lists folders that have no usable `bot.toml` now, with the reasons.
    """
    info = info.model_copy(update={"left_out": {**info.left_out, **left_out}})
    if info.state == "prepared":
        return info.model_copy(update={"state": "running", "started": utc_now()})
    changes: dict[str, object] = {
        "state": "running",
        "ended": None,
        "resumed": utc_now(),
        "resumed_with": (*info.resumed_with, version("asara")),
        "to_build": (),
        "building": {},
    }
    return info.model_copy(update=changes)


class BuildRecord:
    """Records builds in `run.json`."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory

    def queue_builds(self, entries: tuple[str, ...]) -> None:
        self._directory.change(to_build=entries, building={})

    def begin_build(self, entry: str) -> None:
        building = {**self._directory.present.building, entry: utc_now()}
        self._directory.change(to_build=self._to_build_without(entry), building=building)

    def end_build(self, entry: str) -> None:
        """Record that a build is over, whether it succeeded, failed or was unnecessary."""
        building = dict(self._directory.present.building)
        building.pop(entry, None)
        to_build = self._to_build_without(entry)
        self._directory.change(to_build=to_build, building=building, built=utc_now())

    def _to_build_without(self, entry: str) -> tuple[str, ...]:
        return tuple(name for name in self._directory.present.to_build if name != entry)

    def add_build_output(self, entry: str, printed: tuple[str, ...]) -> None:
        """Add the last lines printed by a failed build."""
        self._directory.change(
            build_output={**self._directory.present.build_output, entry: printed}
        )
