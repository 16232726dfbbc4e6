import random
from itertools import pairwise
from typing import Any

import pytest

from asara.v1 import play_pb2 as pb
from asara.v1.vocabulary_pb2 import Action
from asara_game.rules import RULE_COMBINATIONS
from asara_server.match import Match
from asara_server.replay import MoveRecord, parse_replay, replay_bytes, replay_match
from asara_server.results import Termination
from asara_server.spec import ClockSettings, MatchRecord, MatchSpec, Player
from asara_server.telling import Presence
from asara_server.translate import Limits
from tests.server.playouts import random_replay, rules_for

LIMITS = Limits(65_536, 100, 64, 32, 3, 1000)


def refereed(seed: int) -> MatchRecord:
    """A match under the referee: random replies, some of them empty, and a seat that crashes."""
    dice = random.Random(seed)
    rules = rules_for(dice.choice(RULE_COMBINATIONS), dice.choice((2, 3, 4)))
    players = tuple(Player(entry=f"entry {i}", token=f"token {i}") for i in range(rules.seats))
    spec = MatchSpec(
        match_id=f"match-{seed}",
        rules=rules,
        players=players,
        clocks=ClockSettings(),
        secret=dice.randbytes(32),
    )
    match = Match(spec, LIMITS)
    match.start({seat: Presence() for seat in range(rules.seats)}, {}, 0)
    crash_us = dice.randrange(20_000, 200_000)
    asked: dict[int, Any] = {}
    now_us = 0
    while not match.finished:
        now_us += 1000
        for seat, data in match.outbox:
            response = pb.PlayResponse.FromString(data)
            if response.HasField("decision"):
                asked[seat] = response.decision
        match.outbox.clear()
        if now_us == crash_us:
            match.forfeit(dice.randrange(rules.seats), Termination.CRASH, "gone", now_us)
        elif match.asked is not None:
            decision = asked[match.asked]
            action = dice.choice(decision.legal_actions) if dice.random() < 0.98 else Action()
            match.reply(match.asked, decision.decision_id, [action], now_us)
    return MatchRecord(
        spec=spec,
        results=match.results,
        records=tuple(match.records),
        events=tuple(match.telling.events),
        void=False,
        started_unix_ms=1,
        duration_us=now_us,
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_replay_goes_as_the_match_went(seed: int) -> None:
    record = refereed(seed)
    replay = parse_replay(replay_bytes(record.replay))
    assert replay == record.replay
    steps = list(replay_match(replay))
    assert [event for step in steps for event in step.events] == list(record.events)
    assert [step.record for step in steps] == [None, *record.records]


def test_a_step_shows_the_state_behind_its_record() -> None:
    replay = random_replay(RULE_COMBINATIONS[0], 2, seed=1)
    steps = list(replay_match(replay))
    for before, step in pairwise(steps):
        if isinstance(step.record, MoveRecord):
            assert before.state.seat == step.record.seat
            assert step.record.action in before.state.legal
    assert steps[-1].state.seat == -1
