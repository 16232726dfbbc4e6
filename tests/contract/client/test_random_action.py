import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import asara
from asara.protocol_client import ProtocolClient
from tests.contract.client import scripted

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "random_action.json").read_text()
)["choices"]


def match_of(seed: str | None, match_id: str, seat: int) -> asara.Match:
    """Return the match that a bot has after MatchStarted."""
    bots: list[asara.Bot] = []

    class Recorder(asara.Bot):
        def decide(self, decision: asara.Decision) -> asara.Answer:
            raise AssertionError

        def started(self) -> None:
            bots.append(self)

    started = scripted.started(match_id)
    started.match_started.seat = seat
    with closing(ProtocolClient(Recorder, asara.Settings(seed=seed))) as client:
        client.handle(started.SerializeToString())
    return bots[0].match


def decision_of(decision_id: int, count: int) -> asara.Decision:
    counts = (asara.BuildCount(count=number) for number in range(count))
    actions = [asara.Action(build_count=each) for each in counts]
    return asara.Decision(decision_id=decision_id, legal_actions=actions)


@pytest.mark.parametrize("vector", [each for each in VECTORS if each["count"] <= 1000])
def test_random_actions_follow_the_vectors(vector: dict[str, Any]) -> None:
    match = match_of(vector["seed"], vector["match_id"], vector["seat"])
    decision = decision_of(vector["decision_id"], vector["count"])
    for _ in range(2):
        assert match.random_action(decision).build_count.count == vector["index"]


def test_without_a_seed_every_process_chooses_otherwise() -> None:
    decision = decision_of(1, 1000)
    assert len({str(match_of(None, "m1", 0).random_action(decision)) for _ in range(8)}) > 1
