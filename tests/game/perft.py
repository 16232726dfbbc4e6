"""Counts of reachable decisions from fixed deals (perft)."""

import hashlib
from collections.abc import Iterator
from typing import Any

from asara_game.deal import Deal
from asara_game.engine import apply, new_match
from asara_game.rules import RULE_COMBINATIONS, format_rule_sets
from asara_game.state import State
from tests.game.table import rules

_ABOUT = """\
Counts of decision paths. Written by: python -m tests.vectors.regenerate

A position is a match from a secret (32 bytes, hex), after `answered` decisions. Decisions with one
legal action are not asked and not counted. The n-th answer, n from 1, is legal action number
(x_n >> 16) mod (number of legal actions), from 0, with x_0 = 1 and
x_n = (1103515245 x_(n-1) + 12345) mod 2^31.

paths[d-1] is the number of ways to answer the next d decisions; a match that is over has no more.

matches: the same answers up to the end, with the number of decisions and everybody's prestige.
""".splitlines()

_ENOUGH = 1500
"""Number of paths at which no further depth is counted."""
_DEEPEST = 5
_ANSWERED = (0, 20, 45, 70, 95, 120, 145, 170)


def paths(state: State, depth: int) -> int:
    """Number of ways to answer the next `depth` decisions."""
    if depth == 1 or state.seat < 0:
        return len(state.legal)
    found = 0
    for action in state.legal:
        after = state.copy()
        apply(after, action)
        found += paths(after, depth - 1)
    return found


def answers(secret: bytes, rule_sets: str, seats: int) -> Iterator[State]:
    """The match of `about`, at every decision and at its end."""
    state, _ = new_match(rules(rule_sets, seats), Deal(secret))
    x = 1
    while True:
        yield state
        if state.seat < 0:
            return
        x = (1103515245 * x + 12345) % 2**31
        apply(state, state.legal[(x >> 16) % len(state.legal)])


def count(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a position, with its counts."""
    secret, answered = bytes.fromhex(row["secret"]), row["answered"]
    for number, state in enumerate(answers(secret, row["rule_sets"], row["seats"])):
        if number == answered:
            counts = [paths(state, 1)]
            while counts[-1] < _ENOUGH and len(counts) < _DEEPEST:
                counts.append(paths(state, len(counts) + 1))
            return row | {"kind": state.kind.name, "paths": counts}
    raise ValueError(f"the match is over before {answered} answers: {row}")


def finish(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a match, with its result."""
    decisions = 0
    prestige: list[int] = []
    for state in answers(bytes.fromhex(row["secret"]), row["rule_sets"], row["seats"]):
        decisions += state.seat >= 0
        prestige = state.prestige
    return row | {"decisions": decisions, "prestige": prestige}


def vectors() -> dict[str, Any]:
    """The contents of `tests/vectors/perft.json`."""
    positions, matches = [], []
    for rule_sets in map(format_rule_sets, RULE_COMBINATIONS):
        for seats in (2, 3, 4):
            for number, answered in enumerate(_ANSWERED):
                secret = hashlib.sha256(f"{rule_sets} {seats} {number}".encode()).digest()
                row = {"rule_sets": rule_sets, "seats": seats, "secret": secret.hex()}
                match = finish(row)
                if answered < match["decisions"]:
                    positions.append(count(row | {"answered": answered}))
                if number < 2:
                    matches.append(match)
    return {
        "about": _ABOUT,
        "edition_sha256": rules("basic", 2).edition.sha256.hex(),
        "positions": positions,
        "matches": matches,
    }
