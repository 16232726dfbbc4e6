"""The section of a report about processor time. Pure."""

from typing import NamedTuple

from asara_server.tournament.run.costs import RunCosts


class CostRow(NamedTuple):
    """A part of the processor time."""

    name: str
    kind: str
    """Class of the style sheet."""
    seconds: float
    share: float
    """Share of the processor time of the run."""
    width: float
    """Share of the bar, which is all that the cores could do, in percent."""


def cost_rows(costs: RunCosts) -> list[CostRow]:
    """Return the parts of the processor time of a run; none without matches or if not all known."""
    if not costs.matches or not costs.meters_bots:
        return []
    whole_s = max(costs.core_s, costs.cpu_s)
    return [
        CostRow(name, kind, cpu_s, costs.share(cpu_s), round(100 * cpu_s / whole_s, 2))
        for name, kind, cpu_s in (
            ("Starting bots", "starting", costs.start_cpu_s),
            ("Bots at play", "playing", costs.bots_cpu_s),
            ("Referee", "referee", costs.referee_cpu_s),
            ("Journal", "journal", costs.journal_cpu_s),
            ("Runner", "runner", costs.runner_cpu_s),
        )
    ]
