"""The sidecar says the same in every world that its seat cannot tell from the true one."""

import json
import os
import subprocess
import sys
from base64 import b64encode
from typing import Any

import pytest

from asara_game.state import State
from asara_search.sidecar.service import Sidecar
from asara_server.match.match import Match
from tests.events import EVENT_S
from tests.game.play import builder
from tests.leak.worlds import Leak, Message, Speak, Twins
from tests.search.sidecar_matches import seat_messages, up_to_decision

REQUESTS: list[dict[str, Any]] = [
    {"method": "sample", "count": 2, "seed": 1},
    *({"method": "view", "state": state, "seat": seat} for state in (1, 2) for seat in (0, 1)),
    {"method": "legal_actions", "state": 1},
    {"method": "evaluate", "states": [1, 2], "actions": [0], "seed": 2},
    {"method": "play_out", "states": [1, 2], "policy": "random", "seed": 3},
    {"method": "sample"},
    {"method": "copy", "state": 2},
    {"method": "play_out", "states": [3, 4], "policy": "random"},
    {"method": "apply", "state": 1, "actions": ["keep red"]},
    {"method": "outcome", "state": 1},
]
_SHARE = 0.06
"""Share of the decisions at which two sidecars are asked."""


def answers(messages: list[bytes]) -> list[str]:
    """Return the answers of a sidecar to which these messages, and no others, were passed on."""
    sidecar = Sidecar("seed")
    found = []
    for data in messages:
        request = {"method": "observe", "response": b64encode(data).decode()}
        found.append(sidecar.answer(json.dumps(request).encode()))
    return found + [sidecar.answer(json.dumps(request).encode()) for request in REQUESTS]


class AskedTwins(Twins):
    """Twins whose seats pass on what they receive in each world to a sidecar of that world.

    `asked` counts the pairs of sidecars, and `worlds_sampled` their states.
    """

    asked = worlds_sampled = 0

    def _compare(self, seat: int, world: State, speak: Speak) -> list[Message]:
        heard: dict[int, list[Message]] = {}

        def overheard(match: Match) -> None:
            speak(match)
            heard[id(match)] = list(match.outbox)

        found = super()._compare(seat, world, overheard)
        if self.dice.random() < _SHARE and seat == self.state.seat:
            told = [
                answers([data for to, data in messages if to == seat])
                for messages in heard.values()
            ]
            if told[0] != told[1]:
                raise Leak(f"the sidecar of seat {seat} says which world it is in")
            self.asked += 1
            self.worlds_sampled += sum('"states":[' in line for line in told[0])
        return found


@pytest.mark.parametrize(("rule_sets", "seats"), [("basic", 2), ("pro+gifts+genie", 3)])
def test_the_answers_are_the_same_bytes_in_every_world(rule_sets, seats):
    twins = AskedTwins(rule_sets, seats, 1)
    twins.play(builder)
    assert twins.asked >= 3
    assert twins.worlds_sampled >= twins.asked


def test_a_world_of_the_seat_is_not_the_true_one():
    """The samples differ from each other in what the seat does not know: they do not tell."""
    messages = up_to_decision(seat_messages("pro+gifts+genie", 3), 12)
    found = [json.loads(line) for line in answers(messages)]
    views = [each["view"] for each in found if "view" in each and each["seat"] == 1]
    assert len(views) == 2
    assert views[0] != views[1]


@pytest.mark.long
def test_nothing_but_the_messages_and_the_seed_has_an_influence():
    """Two processes with other environments, folders and hash seeds give the same bytes."""
    messages = up_to_decision(seat_messages("pro+gifts", 2), 12)
    requests = [{"method": "observe", "response": b64encode(data).decode()} for data in messages]
    lines = "".join(f"{json.dumps(request)}\n" for request in [*requests, *REQUESTS])
    printed = []
    for hash_seed, token in (("1", "a"), ("2", "b")):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": hash_seed,
            "ASARA_SEED": "seed",
            "ASARA_TOKEN": token,
            "ASARA_ADDRESS": f"unix:/{token}",
        }
        done = subprocess.run(
            [sys.executable, "-m", "asara_search.sidecar"],
            input=lines.encode(),
            capture_output=True,
            env=environment,
            timeout=EVENT_S,
            check=True,
        )
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    assert printed[0].decode().splitlines() == answers(list(messages))
