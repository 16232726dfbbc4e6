"""Compute the standings of a run from the results of its matches. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import MatchCounts, Standings, StandingsRow


def compute_standings(
    title: str, entries: Sequence[str], scheduled: int, results: Iterable[MatchResult]
) -> Standings:
    """Standings from these results; entries that never played stand at the end."""
    # What counts loads numerical libraries, which programs that only read standings do without.
    from asara_server.tournament.standings.cross_table import cross_table
    from asara_server.tournament.standings.ladder import Ladder
    from asara_server.tournament.standings.result_table import tabulate
    from asara_server.tournament.standings.summary import seat_effect, summarize

    every = by_schedule(results)
    counted = [result for result in every if not result.void]
    voided = {result.match_id for result in every if result.void}
    names = _names(entries, counted)
    by_rules: dict[str, list[MatchResult]] = defaultdict(list)
    ladder = Ladder(names)
    for result in counted:
        by_rules[result.rule_sets].append(result)
        ladder.add(result)
    appearances = tabulate(names, counted)
    overall = summarize(names, appearances)

    def lines(some: Sequence[MatchResult]) -> tuple[StandingsRow, ...]:
        return overall if len(some) == len(counted) else summarize(names, tabulate(names, some))

    return Standings(
        title=title,
        complete=len(counted) == scheduled,
        matches=MatchCounts(
            scheduled=scheduled,
            played=len(counted),
            void=len(voided - {result.match_id for result in counted}),
            blocks=len({result.deal_block for result in counted}),
        ),
        overall=overall,
        without_forfeits=lines(without_forfeits(counted)),
        by_rule_sets={rules: lines(own) for rules, own in sorted(by_rules.items())},
        seat_effect=seat_effect(appearances),
        cross_table=cross_table(names, appearances, order=[line.entry for line in overall]),
        ladder=ladder.lines,
    )


def without_forfeits(results: Iterable[MatchResult]) -> list[MatchResult]:
    """The results of the deal blocks in which nobody forfeited.

    A whole block goes, since the rest of it would no longer be the same for every seat.
    """
    every = list(results)
    forfeited = {result.deal_block for result in every if result.forfeits}
    return [result for result in every if result.deal_block not in forfeited]


def by_schedule(results: Iterable[MatchResult]) -> list[MatchResult]:
    """In the order of their names, in which a number counts as a number."""
    return sorted(
        results,
        key=lambda result: (
            [part.zfill(12) for part in re.split(r"(\d+)", result.match_id)],
            result.attempt,
        ),
    )


def _names(entries: Sequence[str], results: Iterable[MatchResult]) -> list[str]:
    """These entries, and then those that only the results know."""
    names = dict.fromkeys(entries)
    names.update(dict.fromkeys(line.entry for result in results for line in result.seats))
    return list(names)
