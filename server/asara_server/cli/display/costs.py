"""The costs of a run in words."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from asara_server.cli.display.quantities import percent
from asara_server.match.spec import ProcessPolicy
from asara_server.text import plain
from asara_server.tournament.run.costs import RunCosts

_LEAST_S: Final = 10.0
"""Seconds of play from which advice is given; a short run is mostly its beginning and end."""
_MUCH_STARTING: Final = 0.25
_BUSY: Final = 0.7
_MANY_MATCHES: Final = 4
"""Matches for each that can be played at once; with fewer, cores idle while the last ones end."""

_UNKNOWN: Final = (
    "How much processor time the bots used is not known: this machine did not run them, or cannot "
    "measure it."
)

_NAMED: Final = 3
"""Entries that a line names at least."""


def costs_lines(
    costs: RunCosts, processes: Mapping[str, ProcessPolicy], *, over: bool = True
) -> Iterator[str]:
    """Yield a few lines about where the time went, and what could be done about it.

    `processes` has the lifetime of the processes of each entry. Before the run is over there is no
    advice.
    """
    if not costs.matches or not costs.cpu_s:
        return
    shares = [
        percent(costs.share(cpu_s))
        for cpu_s in (costs.start_cpu_s, costs.bots_cpu_s, costs.process_cpu_s)
    ]
    cores = "" if costs.busy is None else f"The run used {percent(costs.busy)} of the cores. "
    if costs.deciding is not None:
        yield f"{cores}Bots were deciding for {percent(costs.deciding)} of matches and starts."
    if not costs.meters_bots:
        yield _UNKNOWN
        return
    yield "Starting bots took {} of the processor time, playing {}, the referee {}.".format(*shares)
    if over and costs.wall_s >= _LEAST_S:
        yield from _advice(costs, processes)


def _advice(costs: RunCosts, processes: Mapping[str, ProcessPolicy]) -> Iterator[str]:
    afresh = [name for name, policy in processes.items() if policy == "match"]
    if afresh and costs.share(costs.start_cpu_s) >= _MUCH_STARTING:
        bots = _bots(afresh, processes)
        yield f'With process_per = "run", {bots} would not start for every match.'
    idle = costs.busy is not None and costs.busy < _BUSY
    if idle and costs.matches * costs.wall_s >= _MANY_MATCHES * costs.slot_s:
        yield "The cores were not all used: jobs (or --workers) could be higher."


def _bots(entries: Sequence[str], of: Collection[str]) -> str:
    if len(entries) == len(of):
        return "bots"
    more = len(entries) - _NAMED
    names = [plain(name) for name in entries[: _NAMED if more > 1 else None]]
    if more > 1:
        names.append(f"{more:,} more")
    return "bots of " + " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
