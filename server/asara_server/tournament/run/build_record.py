"""Records the builds of entries in `run.json`."""

from asara_server.tournament.run.directory import RunDirectory
from asara_server.tournament.standings.match_result import utc_now


class BuildRecord:
    """Records builds in `run.json`."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory

    def queue_builds(self, entries: tuple[str, ...]) -> None:
        self._directory.change(to_build=entries, building={})

    def begin_build(self, entry: str) -> None:
        building = {**self._directory.info.building, entry: utc_now()}
        self._directory.change(to_build=self._to_build_without(entry), building=building)

    def end_build(self, entry: str) -> None:
        """Record that a build is over, whether it succeeded, failed or was unnecessary."""
        building = dict(self._directory.info.building)
        building.pop(entry, None)
        to_build = self._to_build_without(entry)
        self._directory.change(to_build=to_build, building=building, built=utc_now())

    def _to_build_without(self, entry: str) -> tuple[str, ...]:
        return tuple(name for name in self._directory.info.to_build if name != entry)

    def add_build_output(self, entry: str, printed: tuple[str, ...]) -> None:
        """Add the last lines printed by a failed build."""
        self._directory.change(build_output={**self._directory.info.build_output, entry: printed})
