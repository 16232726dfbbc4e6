"""Compares a thousand simultaneous matches in one referee with ten.

Both referees are separate processes, with the same bots as in `referee`; the matches share eight
streams. The cost of a decision is the processor time of the referee's process, with the two
referees taking turns. Memory is the growth of the process from when its bots have connected until
its matches are, on average, near their end. A running match keeps everything that its replay will
contain.
"""

from scripts.benchmark.figures import Bar, Figure, compare
from scripts.benchmark.referee import Side, side

COST_BAR = Bar(1.2, most=True)
MEMORY_BAR = Bar(1, most=True)
_MATCH_MB = 0.5
"""The memory bar: megabytes per match."""
_FEW = 10
_NEAR_THE_END = 200
"""Number of decisions after which a four-player match counts as near its end."""


def concurrency(quick: bool) -> list[Figure]:
    """Measure the cost of a decision, and the memory of a match."""
    crowd, rounds = (100, 2) if quick else (1_000, 7)
    costs = []
    with side("referee_server", 1) as many, side("referee_server", 1) as few:
        few.start(_FEW)
        empty = _memory(many)
        many.start(crowd)
        played = 0.0
        for number in range(rounds + 1):
            rate, cost = many.play(0.2 if quick else 2.0)
            _, few_cost = few.play(0.2 if quick else 1.0)
            played += rate * (0.2 if quick else 2.0)
            if number:  # the first round begins the matches and fills caches
                costs.append((cost * 1e6, few_cost * 1e6))
        while played < crowd * (20 if quick else _NEAR_THE_END):
            played += many.play(1.0)[0]
        grown = (_memory(many) - empty) / crowd / 1e6
    return [
        compare(
            "concurrency", costs, unit="µs/decision", peer=f"{_FEW} matches at once", bar=COST_BAR
        ),
        Figure("memory", grown, "MB/match", "the bar itself", _MATCH_MB, MEMORY_BAR),
    ]


def _memory(side: Side) -> float:
    return side.server.call("usage")["memory"]
