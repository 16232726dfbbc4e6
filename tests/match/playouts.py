"""Random matches, for tests that need real views, events and records."""

import random
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from asara_codec.clocks import Clocks
from asara_codec.encode import action_message
from asara_codec.results import Termination
from asara_game.edition import load_edition
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.journal.record_codec import AnyRecord, RecordCodec, Results
from asara_server.journal.replay import Replay, ReplayHeader
from asara_server.match.inputs import Presence
from asara_server.match.match import Match
from asara_server.match.spec import MatchLimits, MatchRecord, MatchSpec, Player
from asara_server.replay.file import file_content, signed_records
from asara_server.replay.signing import SigningKey
from tests.sizes import others_long

LIMITS = MatchLimits()
CASES = [
    pytest.param(rule_sets, seats, id=f"{format_rule_sets(rule_sets)}-{seats}")
    for rule_sets in RULE_COMBINATIONS
    for seats in (2, 3, 4)
]
"""Every valid combination of rule sets and number of seats."""
WIDE_CASES = others_long(CASES, 4)
EVERYTHING = max(RULE_COMBINATIONS, key=len)


@cache
def rules_for(rule_sets: frozenset[RuleSet], seats: int) -> Rules:
    return Rules(load_edition(), rule_sets, seats)


def random_match(
    spec: MatchSpec,
    dice: random.Random,
    *,
    replies: int = 10_000,
    quiet: bool = False,
    first: int | None = None,
) -> Replay:
    """Play a random match under a referee; unless it is `quiet`, with every type of record.

    After `replies`, the seats forfeit, from the last or the `first`, until one is left. The replies
    of the last seat are rejected twice, its bot reconnects in its own turn and out of it, and of
    three seats it forfeits late.
    """
    match = Match(spec, LIMITS)
    last = spec.rules.seats - 1
    leaving = sorted(range(last + 1), key=lambda seat: (seat == first, seat))
    match.start({seat: Presence(seat == 1, seat == last) for seat in range(last + 1)}, {})
    now = answered = refused = 0
    while not match.finished:
        now += dice.randrange(100, 90_000)
        if match.asked is None:  # a pause
            now = max(now, match.deadline_us)
            match.expire(now)
            continue
        if answered >= replies:
            match.forfeit(leaving.pop(), Termination.CRASH, "the test ends here", now)
            continue
        if not quiet and answered in (5, 40):
            match.leave(last, now)
            now += 1_000
            match.enter(last, Presence(True, False, answered), now)
        if not quiet and answered == 90 and last > 1:
            match.forfeit(last, Termination.CRASH, "exit code 1", now)
        if not quiet and answered == 100:
            match.halt(now)
            match.reopen(now + 5)
            for back in range(spec.rules.seats):
                match.enter(back, Presence(), now + 9)
            now += 500
        seat = match.asked
        assert seat is not None
        decision = match.decision_id(seat)
        if not quiet and seat == last and answered >= 12 and refused < 2:
            match.reply(seat, decision, [], now)
            refused += 1
        legal = match.state.legal
        wanted = [action for action in legal if str(action) != "decline"]
        more = [action_message(dice.choice(legal))] * dice.randrange(2)
        match.reply(seat, decision, [action_message(dice.choice(wanted)), *more], now)
        match.record_reply(dice.randrange(90))
        answered += 1
    return finished_replay(match)


def finished_replay(match: Match) -> Replay:
    """The replay of a finished match."""
    header = ReplayHeader.of(match.spec, match.limits, 1_600_000_000_000)
    return Replay(header, tuple(match.records), *Results.of(match))


def record_bytes(record: AnyRecord) -> bytes:
    """A record, serialized as the first of its match."""
    return RecordCodec().encode(record)


def replay_records(replay: Replay) -> tuple[bytes, ...]:
    """All records of a replay but the signature, serialized."""
    every = replay.header, *replay.records, Results(replay.ends, replay.digests)
    return tuple(map(RecordCodec().encode, every))


def replay_bytes(replay: Replay, key: SigningKey) -> bytes:
    """The content of a replay's file."""
    return signed_bytes(replay_records(replay), key)


def signed_bytes(records: Iterable[bytes], key: SigningKey) -> bytes:
    """The content of a file with these records and their signature."""
    return file_content(signed_records(records, key))


def replay_of(record: MatchRecord) -> Replay:
    """The replay of a match that a referee has played, and that is not void."""
    header, *records, results = map(RecordCodec().decode, record.records)
    return Replay(header, tuple(records), *results)  # type: ignore[arg-type,misc]


def random_spec(rules: Rules, dice: random.Random, name: str) -> MatchSpec:
    """A match of bots with names like "bot 0", with enough time for `random_match`."""
    players = tuple(Player(f"bot {seat}", f"token {seat}") for seat in range(rules.seats))
    return MatchSpec(name, rules, players, Clocks(), dice.randbytes(32))


def random_replay(
    rule_sets: frozenset[RuleSet], seats: int, seed: int, *, replies: int = 10_000, **given: Any
) -> Replay:
    """The replay of a `random_match`; `given` are fields of its MatchSpec."""
    dice = random.Random(seed)
    spec = random_spec(rules_for(rule_sets, seats), dice, f"random-{seed}")
    spec = replace(spec, **given)
    return random_match(spec, dice, replies=replies)
