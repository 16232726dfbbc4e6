"""`costs.json`: the costs of a run while it is played; at its end they are in `run.json`.

A run that is killed continues the sum from there. The file is not forced to disk: that would make
matches wait, and a loss of power costs no more than a part of these figures.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from asara_server.atomic_file import PRIVATE, replace_file
from asara_server.bounded_file import MIB, read_bounded
from asara_server.logs import logger
from asara_server.tournament.run.costs import RunCosts

COSTS_FILE: Final = "costs.json"

_INTERVAL_S: Final = 1.0
"""Least seconds between two writes."""


def read_costs(directory: Path) -> RunCosts | None:
    """Return the costs of a run that is being played or was killed; None without a sound file."""
    try:
        return RunCosts.model_validate_json(read_bounded(directory / COSTS_FILE, MIB))
    except (OSError, ValidationError):
        return None


class CostsFile:
    """Keeps `costs.json` of one run up to date while it is played."""

    def __init__(self, directory: Path, earlier: RunCosts | None) -> None:
        """`earlier` are the costs that `run.json` of a resumed run has."""
        self._path = directory / COSTS_FILE
        found = read_costs(directory) or RunCosts()
        self.earlier = max(found, earlier or RunCosts(), key=lambda costs: costs.wall_s)
        """Costs of the earlier sessions of the run."""
        self._written_s = time.monotonic()
        self._logger = logger("runner")

    def write_if_due(self, session: Callable[[], RunCosts]) -> None:
        """Write the file once a second; `session` returns the costs of this session so far."""
        now_s = time.monotonic()
        if now_s - self._written_s < _INTERVAL_S:
            return
        self._written_s = now_s
        content = (self.earlier + session()).model_dump_json(indent=2) + "\n"
        try:
            replace_file(self._path, content.encode(), mode=PRIVATE, durable=False)
        except OSError as error:  # no reason to stop the matches
            self._logger.warning("costs.json not written", detail=error.strerror or str(error))

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)
