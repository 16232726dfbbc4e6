"""Matches played at random, for tests that need real views, events and records."""

import random
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, new_match
from asara_game.events import Event
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import RuleSet
from asara_server.replay import (
    ForfeitRecord,
    MoveRecord,
    Record,
    RejectionRecord,
    Replay,
    ReplayHeader,
)
from asara_server.results import RejectionReason, SeatResult, Termination, rank_seats
from asara_server.translate import Clocks

#: Every valid match: rule sets and number of seats.
CASES = [
    pytest.param(rule_sets, seats, id=f"{format_rule_sets(rule_sets)}-{seats}")
    for rule_sets in RULE_COMBINATIONS
    for seats in (2, 3, 4)
]
EVERYTHING = max(RULE_COMBINATIONS, key=len)


class Moment(NamedTuple):
    """A decision of a match, with the events since the one before; `seat` is -1 at the end."""

    state: State
    events: tuple[Event, ...]


@cache
def rules_for(rule_sets: frozenset[RuleSet], seats: int) -> Rules:
    return Rules(load_edition(), rule_sets, seats)


def playout(rules: Rules, seed: int) -> Iterator[Moment]:
    """A random match; the state is the running one, so look before the next step.

    Buys and builds are preferred to declining, so that towers get tall and lit.
    """
    dice = random.Random(f"{seed}/{sorted(rules.rule_sets)}/{rules.seats}")
    state, events = new_match(rules, Deal(dice.randbytes(32)))
    yield Moment(state, tuple(events))
    while state.seat >= 0:
        legal = list(state.legal)
        wanted = [action for action in legal if str(action) != "decline"]
        events = apply(state, dice.choice(wanted))
        yield Moment(state, tuple(events))


def random_replay(rule_sets: frozenset[RuleSet], seats: int, seed: int) -> Replay:
    """A random match as a replay; the last seat is refused once, and forfeits later."""
    rules = rules_for(rule_sets, seats)
    dice = random.Random(seed)
    secret = dice.randbytes(32)
    state, _ = new_match(rules, Deal(secret))
    last = seats - 1
    refused = forfeited = False
    records: list[Record] = []
    while (seat := state.seat) >= 0:
        if seat == last and len(records) >= 12 and not refused:
            refused = True
            records.append(RejectionRecord(last, RejectionReason.EMPTY, "no action"))
        if not forfeited and len(records) > 90:
            records.append(ForfeitRecord(last, Termination.CRASH, "exit code 1"))
            forfeited = True
        action = dice.choice([a for a in state.legal if str(a) != "decline"])
        steward = forfeited and seat == last
        records.append(MoveRecord(seat, action, 0 if steward else dice.randrange(9999), 9, steward))
        apply(state, action)
    header = ReplayHeader(
        match_id=f"random-{seed}",
        edition=rules.edition.data,
        rule_sets=rule_sets,
        entries=tuple(f"bot {seat}" for seat in range(seats)),
        clocks=Clocks(1, 2, 3, 4, 5),
        deal_secret=secret,
        started_unix_ms=1_600_000_000_000,
    )
    return Replay(header, tuple(records), _results(state, header.entries, forfeited))


def _results(state: State, entries: tuple[str, ...], forfeited: bool) -> tuple[SeatResult, ...]:
    out = {len(entries) - 1} if forfeited else set()
    results = []
    for seat, rank in enumerate(rank_seats(state.prestige, out)):
        private = view(state, seat).private
        termination = Termination.CRASH if seat in out else Termination.COMPLETED
        results.append(
            SeatResult(
                seat=seat,
                entry=entries[seat],
                rank=rank,
                prestige=state.prestige[seat],
                termination=termination,
                detail="exit code 1" if seat in out else "",
                asari=private.asari,
                sections=private.sections,
                lit_windows=private.lit_windows,
            )
        )
    return tuple(results)
