"""Matches between random starters, computed from the rules and the published rule alone.

No client takes part: `random_index` here is written from proto/README.md, not taken from one.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from asara_game.actions import Action
from asara_game.deal import Deal
from asara_game.engine import apply, new_match, outcome
from asara_game.rules import RULE_COMBINATIONS, format_rule_sets
from tests.game.table import rules

SEEDS = range(1, 21)
_KINDS = [(sets, seats) for seats in (2, 3, 4) for sets in RULE_COMBINATIONS]


class GoldenMatch(NamedTuple):
    """A match in which the bots of all seats have one ASARA_SEED."""

    match_id: str
    seed: int
    """ASARA_SEED; the deal follows from it as well."""
    rule_sets: str
    seats: int

    @property
    def secret(self) -> bytes:
        """The referee's secret, from which the deal follows."""
        return sha256(f"golden/{self.seed}".encode()).digest()


MATCHES = [
    GoldenMatch(f"golden-{seed:02}", seed, format_rule_sets(sets), seats)
    for seed in SEEDS
    for sets, seats in [_KINDS[seed % len(_KINDS)]]
]


class Course(NamedTuple):
    """The course of a match: what the bots answered, and the results by seat."""

    actions: tuple[str, ...]
    prestige: tuple[int, ...]
    ranks: tuple[int, ...]


def random_index(seed: int, match_id: str, seat: int, decision: int, count: int) -> int:
    digest = sha256(f"{seed}/{match_id}/{seat}/{decision}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % count


def played(match: GoldenMatch) -> Course:
    """Play a match to its end."""
    state, _ = new_match(rules(match.rule_sets, match.seats), Deal(match.secret))
    decisions = [0] * match.seats
    actions = []
    while state.seat >= 0:
        seat = state.seat
        decisions[seat] += 1
        choice = match.seed, match.match_id, seat, decisions[seat], len(state.legal)
        action = state.legal[random_index(*choice)]
        actions.append(str(action))
        apply(state, action)
    end = outcome(state)
    assert end is not None
    ranks = tuple(1 + sum(other > own for other in end.prestige) for own in end.prestige)
    return Course(tuple(actions), end.prestige, ranks)


def digest(actions: Iterable[Action | str]) -> str:
    """Return the SHA-256 of the text forms, each followed by a newline."""
    return sha256("".join(f"{action}\n" for action in actions).encode()).hexdigest()


def rows(matches: Iterable[GoldenMatch]) -> Iterator[dict[str, Any]]:
    """The matches as they stand in `random_moves.json`."""
    for match in matches:
        course = played(match)
        yield {
            "match_id": match.match_id,
            "seed": match.seed,
            "secret": match.secret.hex(),
            "rule_sets": match.rule_sets,
            "seats": match.seats,
            "actions": len(course.actions),
            "sha256": digest(course.actions),
            "prestige": course.prestige,
            "ranks": course.ranks,
        }


def golden() -> dict[str, Any]:
    return {
        "about": [
            "Matches between random starters, with the same ASARA_SEED in all seats: see",
            "'Random legal actions' in proto/README.md. secret: the referee's, from which the deal",
            "follows. actions: number of actions that the bots chose. sha256: of the text forms",
            "of these actions in the order of play, each followed by a newline.",
        ],
        "matches": list(rows(MATCHES)),
    }
