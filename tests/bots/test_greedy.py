"""Playing strength of greedy against random bots, on fixed deals with rotating seats."""

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import pytest

import asara
from asara_game.edition import load_edition
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets
from asara_game.vocabulary import RuleSet
from bots.greedy.main import decide as greedy
from bots.random.main import decide as at_random
from tests.bots.in_process import play_match, victory_share
from tests.sizes import others_long

EDITION = load_edition()


class Tally(NamedTuple):
    """Result of several matches: victories, with ties shared, and mean prestige."""

    matches: int
    won: float
    prestige: float
    rivals_prestige: float

    @property
    def share(self) -> float:
        return self.won / self.matches

    def __str__(self) -> str:
        share = f"won {self.share:.1%} of {self.matches}"
        return f"{share}, prestige {self.prestige:.0f} to {self.rivals_prestige:.0f}"


def tally(rule_sets: frozenset[RuleSet], seats: int, deals: Iterable[int]) -> Tally:
    """Play greedy in each seat in turn, against random bots."""
    rules = Rules(EDITION, rule_sets, seats)
    wins = own = rivals = 0.0
    matches = 0
    for deal, seat in product(deals, range(seats)):
        bots = [greedy if number == seat else at_random for number in range(seats)]
        results = play_match(rules, bots, f"deal-{deal}", deal.to_bytes(32))
        wins += victory_share(results, seat)
        own += results[seat].prestige
        rivals += sum(r.prestige for r in results if r.seat != seat) / (seats - 1)
        matches += 1
    return Tally(matches, wins, own / matches, rivals / matches)


def tallies(seats: int, deals: int) -> dict[str, Tally]:
    """Return and print (for `pytest -s`) a tally of each combination of rule sets."""
    found = {format_rule_sets(sets): tally(sets, seats, range(deals)) for sets in RULE_COMBINATIONS}
    print(f"\ngreedy against {seats - 1} random")
    for name, counted in found.items():
        print(f"{name:>16}: {counted}")
    return found


@pytest.mark.long
def test_beats_random():
    assert min(row.share for row in tallies(seats=2, deals=5).values()) >= 0.9


@pytest.mark.long
def test_beats_three_randoms():
    assert min(row.share for row in tallies(seats=4, deals=2).values()) > 0.8


class Answered(NamedTuple):
    """A decision with the action that answered it."""

    decision: asara.Decision
    match: asara.Match
    action: asara.Action


def play_and_record(rule_sets: frozenset[RuleSet]) -> list[Answered]:
    """Play a match between two greedy bots; return all their decisions."""
    answered: list[Answered] = []

    def decide(decision: asara.Decision, match: asara.Match) -> asara.Action:
        action = greedy(decision, match)
        answered.append(Answered(decision, match, action))
        return action

    play_match(Rules(EDITION, rule_sets, 2), [decide, decide], "recorded", bytes(32))
    return answered


@pytest.mark.parametrize("rule_sets", others_long(RULE_COMBINATIONS, 5), ids=format_rule_sets)
def test_decides_from_the_decision_alone(rule_sets):
    answered = play_and_record(rule_sets)
    assert [greedy(a.decision, a.match) for a in reversed(answered)] == [
        a.action for a in reversed(answered)
    ]


def pairs_left(sections: tuple[int, ...]) -> int:
    """Number of towers that the unbuilt sections of a seat could have founded."""
    bases, turrets = sections[:10], sections[30:]
    return sum(
        min(bases[at] + bases[at + 1], turrets[at] + turrets[at + 1]) for at in range(0, 10, 2)
    )


@pytest.mark.long
def test_builds_its_towers_before_the_end():
    left = [
        pairs_left(result.sections)
        for deal, rule_sets in enumerate(RULE_COMBINATIONS)
        for result in play_match(
            Rules(EDITION, rule_sets, 2), [greedy] * 2, "end", deal.to_bytes(32)
        )
    ]
    assert sum(left) <= 2, left
