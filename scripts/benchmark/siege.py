"""Attacks on a referee in whose tournament honest bots play, beside the calm referee.

Each scenario is one attack of `attacks/`: by a contained bot at its own address, by a remote bot
with a token, or by a stranger at the address for remote bots; the last ones run many at once.
Scenarios without an attack run in between (see `siege_tournament`).

`siege_p50` and `siege_p95` are percentiles of the time that the clock charged honest bots for a
decision, from the replays. `siege_forfeits` counts honest seats. `siege_admission` is the longest
time until a bot with a good token at the remote address received Welcome, dialling in twice a
second. Memory and descriptors are peaks of the referee's process, and the log is run.log.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from scripts.benchmark.figures import Bar, BenchError, Figure
from scripts.benchmark.siege_tournament import ADMISSION_S, ATTACKS, Outcome, Scenario, play

GRACE_MS: Final = 50.0
"""The default grace: up to this, the time of a decision costs a bot nothing."""
MEMORY_MB: Final = 400.0
"""Peak memory of the referee under any attack, in megabytes."""
LOG_KB: Final = 1_000.0
"""Size of run.log after any attack, in kilobytes."""
DESCRIPTORS: Final = 1_150
"""Open at most, of 1,200; at the limit, the referee could not open its own files."""
_NONE: Final = Bar(0, most=True)


CALM: Final = Scenario("calm")

QUICK: Final = ("silent-streams", "health-names", "varints", "fork-bomb")

MANY: Final = (
    *("silent-streams", "idle-connections", "health-names", "health-watches", "dial-in"),
    *("rapid-reset", "pings", "continuations", "half-messages", "inflated-messages"),
    *("varints", "after-forfeit", "hello-loop", "reconnects", "unread-stream"),
    *("leases", "output-flood", "fork-bomb", "memory-hog", "full-disk"),
)
"""The attacks of the last scenarios, which run at once."""


class _Attackers(NamedTuple):
    """The kinds of attackers that can run an attack."""

    contained: bool
    stranger: bool
    remote: bool


def attacks() -> dict[str, _Attackers]:
    """Return the attackers of all attacks by name."""
    code = (
        "import json; from attacks import doors, machine, streams; "
        "from attacks.catalogue import ATTACKS; "
        "print(json.dumps({a.name: (a.contained, a.stranger, a.remote) for a in ATTACKS.values()}))"
    )
    listed = subprocess.run(
        [sys.executable, "-c", code], cwd=ATTACKS.parent, capture_output=True, text=True, check=True
    )
    return {name: _Attackers(*flags) for name, flags in json.loads(listed.stdout).items()}


def scenarios(quick: bool, only: Sequence[str] = ()) -> list[Scenario]:
    """Return the scenarios with attacks; `only` these attacks, each by all that can run it."""
    known = attacks()
    for name in only:
        if name not in {*known, "many"}:
            raise BenchError(f"no attack {name!r}; there are many, {', '.join(sorted(known))}")
    chosen = [name for name in only if name != "many"] or (QUICK if quick else list(known))
    found = []
    for name in chosen if not only or set(only) != {"many"} else ():
        if known[name].contained:
            found.append(Scenario(f"{name}/bot", bots=(name,)))
        if known[name].stranger and (only or not quick):
            found.append(Scenario(f"{name}/stranger", strangers=(name,)))
        if known[name].remote and (only or not quick):
            found.append(Scenario(f"{name}/remote", remote=(name,)))
    if "many" in only or not (only or quick):
        strangers = tuple(name for name in MANY if known[name].stranger)
        found.append(Scenario("many/bot", bots=MANY))
        found.append(Scenario("many/stranger", strangers=strangers))
        found.append(Scenario("many/both", bots=MANY, strangers=strangers))
    return found


def siege(quick: bool, only: Sequence[str] = ()) -> list[Figure]:
    """Measure every scenario beside the calm referee."""
    if shutil.which("bwrap") is None:
        raise BenchError("siege needs bubblewrap (bwrap), in which the hostile bots run")
    seconds = 4.0 if quick else 8.0
    calm: list[Outcome] = []
    measured: list[tuple[Scenario, Outcome]] = []
    for number, scenario in enumerate(scenarios(quick, only)):
        if number % 5 == 0:
            calm.append(_measure(CALM, seconds))
        many = len(scenario.bots) > 1
        measured.append((scenario, _measure(scenario, seconds * (4 if many else 1))))
    calm.append(_measure(CALM, seconds))
    return _figures(calm, measured)


def _figures(calm: list[Outcome], measured: list[tuple[Scenario, Outcome]]) -> list[Figure]:
    """Return the p95 of each scenario, and the worst of all scenarios in every respect."""
    every = [outcome for _, outcome in measured]
    peer, most = "calm referee", Bar(1, most=True)
    calm_p95 = median(one.p95_ms for one in calm)
    seats = sum(one.seats for one in every)
    dialled = sum(len(one.admission_s) + one.refused for one in every)
    admission_s = [seconds for one in every for seconds in one.admission_s]
    calm_p50, calm_pace = (
        median(getattr(one, name) for one in calm) for name in ("p50_ms", "pace")
    )
    memory_mb = max(one.memory_mb for one in every)
    descriptors = max(one.descriptors for one in every)
    log_kb = max(one.log_kb for one in every)
    forfeits = sum(one.forfeits for one in every)
    refused = sum(one.refused for one in every)
    return [
        *(
            Figure(f"siege_p95 {scenario.name}", outcome.p95_ms, "ms", peer, calm_p95)
            for scenario, outcome in measured
        ),
        Figure("siege_p50", max(one.p50_ms for one in every), "ms", peer, calm_p50),
        Figure("siege_p95", max(one.p95_ms for one in every), "ms", "grace", GRACE_MS, most),
        Figure("siege_pace", min(one.pace for one in every), "decisions/s", peer, calm_pace),
        Figure("siege_forfeits", forfeits, "seats", "all seats", max(seats, 1), _NONE),
        Figure("siege_refused", refused, "attempts", "all attempts", max(dialled, 1), _NONE),
        Figure("siege_admission", max(admission_s, default=0), "s", "limit", ADMISSION_S, most),
        Figure("siege_memory", memory_mb, "MB", "limit", MEMORY_MB, most),
        Figure("siege_descriptors", descriptors, "open", "limit", DESCRIPTORS, most),
        Figure("siege_log", log_kb, "KB", "limit", LOG_KB, most),
    ]


def _measure(scenario: Scenario, seconds: float) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="asara-siege-", ignore_cleanup_errors=True) as name:
        outcome = play(scenario, Path(name), seconds)
    print(f"  {scenario.name}: {outcome.describe()}", file=sys.stderr, flush=True)
    return outcome
