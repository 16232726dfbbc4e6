"""Matches as one seat receives them, and a sidecar that is asked in this process."""

import json
import random
from base64 import b64encode
from functools import cache
from typing import Any

from asara.bot import Match as ClientMatch
from asara.v1.play_pb2 import Decision, PlayResponse
from asara.v1.vocabulary_pb2 import Action
from asara_search.sidecar.service import Sidecar
from tests.bots.in_process import finished_match
from tests.game.table import rules

Answer = dict[str, Any]


@cache
def seat_messages(rule_sets: str = "basic", seats: int = 2, seed: int = 1) -> tuple[bytes, ...]:
    """All messages of a match to seat 0, in which every seat plays at random."""
    seen: list[ClientMatch] = []

    def decide(decision: Decision, match: ClientMatch) -> Action:
        if match.seat == 0 and not seen:
            seen.append(match)
        return match.random_action(decision)

    secret = random.Random(seed).randbytes(32)
    finished_match(rules(rule_sets, seats), [decide] * seats, f"{rule_sets}-{seed}", secret)
    return tuple(seen[0].messages)


def up_to_decision(messages: tuple[bytes, ...], number: int) -> list[bytes]:
    """The messages up to the decision of this number, which is the last of them."""
    for index, data in enumerate(messages, 1):
        response = PlayResponse.FromString(data)
        if response.HasField("decision") and response.decision.decision_id == number:
            return list(messages[:index])
    raise ValueError(f"no decision {number}")


class Asked:
    """A sidecar whose requests are given as keyword arguments."""

    def __init__(self, messages: list[bytes] | tuple[bytes, ...] = (), seed: str = "1") -> None:
        self.sidecar = Sidecar(seed)
        for data in messages:
            self.pass_on(data)

    def line(self, line: bytes | str) -> Answer:
        text = self.sidecar.answer(line.encode() if isinstance(line, str) else line)
        assert "\n" not in text
        answer = json.loads(text)
        assert isinstance(answer, dict)
        return answer

    def ask(self, method: str, **members: Any) -> Answer:
        """Return the answer to a request that must succeed."""
        answer = self.line(json.dumps({"method": method, **members}))
        assert "error" not in answer, answer
        return answer

    def refusal(self, method: str, **members: Any) -> str:
        """Return the error of a request that must fail."""
        return str(self.line(json.dumps({"method": method, **members}))["error"])

    def pass_on(self, data: bytes) -> Answer:
        return self.ask("observe", response=b64encode(data).decode())

    def sample(self, **members: Any) -> int:
        """Return the number of a new state."""
        [state] = self.ask("sample", **members)["states"]
        assert isinstance(state, int)
        return state
