"""Keeps `run.json` up to date while a run is played."""

from collections.abc import Mapping
from importlib.metadata import version

from asara_server.logs import logger
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


class RunInfoWriter:
    """Updates `run.json` whenever an entry is built, is out, is suspended, or a group begins.

    If the run is killed, a resumption reads these facts from `run.json`.
    """

    def __init__(self, directory: RunDirectory, info: RunInfo) -> None:
        self._directory = directory
        self._logger = logger("runner")
        self.info = info
        """The present content of `run.json`."""

    def queue_builds(self, entries: tuple[str, ...]) -> None:
        self.write(to_build=entries, building={})

    def begin_build(self, entry: str) -> None:
        building = {**self.info.building, entry: utc_now()}
        self.write(to_build=self._to_build_without(entry), building=building)

    def end_build(self, entry: str) -> None:
        """Record that a build is over, whether it succeeded, failed or was unnecessary."""
        building = {name: since for name, since in self.info.building.items() if name != entry}
        self.write(to_build=self._to_build_without(entry), building=building, built=utc_now())

    def _to_build_without(self, entry: str) -> tuple[str, ...]:
        return tuple(name for name in self.info.to_build if name != entry)

    def add_build_output(self, entry: str, printed: tuple[str, ...]) -> None:
        """Add the last lines printed by a failed build."""
        self.write(build_output={**self.info.build_output, entry: printed})

    def stop_builds(self) -> None:
        """Forget interrupted builds."""
        if self.info.to_build or self.info.building:
            self.write(to_build=(), building={})

    def write(self, **changes: object) -> None:
        """Write these fields."""
        self.info = self.info.model_copy(update=changes)
        try:
            self._directory.write_info(self.info)
        except OSError as error:  # no reason to stop the matches
            self._logger.warning("run.json not written", detail=error.strerror or str(error))
