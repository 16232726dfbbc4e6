"""The sidecar: its methods, its limits, and what it refuses."""

import json
from base64 import b64decode, b64encode
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from asara.bridge.message_json import message_json
from asara.text import format_action
from asara.v1.play_pb2 import PlayResponse
from asara.v1.vocabulary_pb2 import Action
from asara_search.sidecar.service import LIMITS, LONGEST_LINE
from tests.search.sidecar_matches import Asked, seat_messages, up_to_decision

DECISION = 25
EVERYTHING = "pro+gifts+genie"


@pytest.fixture
def asked() -> Asked:
    """A sidecar in the middle of a match of two seats under the basic rules."""
    return Asked(up_to_decision(seat_messages(), DECISION))


def last_decision(rule_sets: str = "basic", seats: int = 2) -> Any:
    messages = up_to_decision(seat_messages(rule_sets, seats), DECISION)
    return PlayResponse.FromString(messages[-1]).decision


@pytest.mark.parametrize(("rule_sets", "seats"), [("basic", 2), (EVERYTHING, 3)])
def test_a_sample_is_at_the_decision_and_shows_the_seat_what_it_sees(rule_sets, seats):
    asked = Asked(up_to_decision(seat_messages(rule_sets, seats), DECISION))
    decision = last_decision(rule_sets, seats)
    for state in asked.ask("sample", count=3)["states"]:
        found = asked.ask("legal_actions", state=state)
        assert found["legal"] == [format_action(action) for action in decision.legal_actions]
        assert (found["over"], found["seat"], found["kind"]) == (
            False,
            0,
            PlayResponse.DESCRIPTOR.file.enum_types_by_name["DecisionKind"]
            .values_by_number[decision.kind]
            .name,
        )
        seen = asked.ask("view", state=state)
        assert seen == {"seat": 0, "view": json.loads(message_json(decision.view))}
    assert asked.ask("view", state=state, seat=1, form="base64")["seat"] == 1


def test_actions_have_three_forms_which_mean_the_same(asked):
    decision = last_decision()
    state = asked.sample()
    forms = {
        form: asked.ask("legal_actions", state=state, form=form)["legal"]
        for form in ("text", "json", "base64")
    }
    for index, action in enumerate(decision.legal_actions):
        assert Action.FromString(b64decode(forms["base64"][index])) == action
        assert forms["json"][index] == json.loads(message_json(action))
        outcomes = []
        for given in (
            index,
            forms["text"][index],
            forms["json"][index],
            {"base64": forms["base64"][index]},
            MessageToDict(action),
        ):
            copies = asked.ask("copy", state=state, seed=7)["states"]
            asked.ask("apply", state=copies[0], actions=[given])
            outcomes.append(asked.ask("view", state=copies[0]))
        assert outcomes.count(outcomes[0]) == len(outcomes)


@pytest.mark.parametrize("form", ["response", "bytes", "json", "camel case", "bridge"])
def test_messages_are_accepted_in_every_form(form):
    asked = Asked()
    found: dict[str, Any] = {}
    for data in up_to_decision(seat_messages(EVERYTHING, 3), DECISION):
        response = PlayResponse.FromString(data)
        kind = response.WhichOneof("response")
        assert kind is not None
        message = getattr(response, kind)
        line: dict[str, Any] = {"method": "observe"}
        if form == "response":
            line["response"] = b64encode(data).decode()
        elif form == "bytes":
            line[kind] = b64encode(message.SerializeToString()).decode()
        elif form == "json":
            line[kind] = json.loads(message_json(message))
        elif form == "camel case":
            line[kind] = MessageToDict(message)
        else:
            line = {"type": kind, "match_id": "ignored", "seat": 0, "legal": []}
            line[kind] = json.loads(message_json(message))
        found = asked.line(json.dumps(line))
        assert (found["match_id"], found["seat"]) == (message.match_id, 0)
    assert found["decision_id"] == DECISION
    state = asked.sample(seed=1, decision_id=str(DECISION))
    same = Asked(up_to_decision(seat_messages(EVERYTHING, 3), DECISION))
    request = {"states": [state], "policy": "random", "seed": 1}
    assert asked.ask("play_out", **request) == same.ask(
        "play_out", **{**request, "states": [same.sample(seed=1)]}
    )


def test_apply_copy_and_outcome_play_a_match_to_its_end(asked):
    state = asked.sample(seed=1)
    [untouched] = asked.ask("copy", state=state)["states"]
    before = asked.ask("view", state=untouched)
    found = asked.ask("legal_actions", state=state)
    assert asked.ask("outcome", state=state)["over"] is False
    while not found["over"]:
        answer = asked.ask("apply", state=state, actions=[0])
        found = asked.ask("legal_actions", state=state)
        assert {name: found[name] for name in answer} == answer
    assert (found["seat"], found["legal"]) == (-1, [])
    ended = asked.ask("outcome", state=state)
    assert ended["over"]
    best = max(ended["prestige"])
    assert [ended["prestige"][seat] for seat in ended["winners"]] == [best] * len(ended["winners"])
    assert asked.ask("evaluate", states=[state])["values"] == ended["prestige"]
    assert asked.ask("view", state=untouched) == before


def test_playouts_leave_the_state_and_repeat_themselves_with_a_seed(asked):
    state = asked.sample(seed=1)
    before = asked.ask("view", state=state)
    request = {"states": [state], "policy": "random", "count": 5, "actions": [1], "seed": "x"}
    found = asked.ask("play_out", **request)
    assert found["count"] == 5
    assert sum(found["wins"]) == pytest.approx(1)
    assert found["decisions"] > 5
    assert asked.ask("play_out", **request) == found
    assert asked.ask("play_out", **{**request, "seed": "y"}) != found
    assert asked.ask("view", state=state) == before


def test_a_playout_can_end_with_the_turn():
    asked = Asked(up_to_decision(seat_messages(), 1))
    states = asked.ask("sample", seed=1)["states"]
    assert asked.ask("legal_actions", state=states[0])["kind"] == "DECISION_KIND_SPACE"
    nothing = asked.ask("play_out", states=states, until="turn")  # none has begun
    assert nothing == {**asked.ask("evaluate", states=states), "decisions": 0}
    turn = asked.ask("play_out", states=states, actions=[0], until="turn")
    year = asked.ask("play_out", states=states, actions=[0], until="year")
    assert 1 <= turn["decisions"] < year["decisions"]


def test_without_a_seed_a_request_takes_the_sidecars_numbers():
    messages = up_to_decision(seat_messages(), DECISION)
    drawn = []
    for seed in ("1", "1", "2"):
        asked = Asked(messages, seed)
        states = asked.ask("sample", count=2)["states"]
        drawn.append([asked.ask("view", state=state, seat=1)["view"] for state in states])
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0][0] != drawn[0][1]


def test_several_matches_are_kept_apart():
    basic = up_to_decision(seat_messages(), DECISION)
    rich = up_to_decision(seat_messages(EVERYTHING, 3), DECISION)
    both = Asked()
    for data in [part for pair in zip(basic, rich, strict=False) for part in pair]:
        both.pass_on(data)
    for data in [*basic[len(rich) :], *rich[len(basic) :]]:
        both.pass_on(data)
    assert both.refusal("sample") == "sample: member 'match_id' is missing"
    numbers = {}
    for messages, match_id in ((basic, "basic-1"), (rich, f"{EVERYTHING}-1")):
        alone = Asked(messages)
        [number] = both.ask("sample", match_id=match_id, seed=5)["states"]
        for seat in (0, 1):
            seen = both.ask("view", state=number, seat=seat)
            assert seen == alone.ask("view", state=alone.sample(seed=5), seat=seat)
        numbers[match_id] = number
    refused = both.refusal("evaluate", states=list(numbers.values()))
    assert refused == "evaluate: states: they are of different matches"
    assert both.ask("release", match_id="basic-1") == {"released": 1}
    assert both.sample() > max(numbers.values())  # one match is left, and no number is used again


def test_the_end_of_a_match_releases_all_of_it():
    messages = seat_messages()
    asked = Asked(up_to_decision(messages, DECISION))
    state = asked.sample()
    for data in messages[len(up_to_decision(messages, DECISION)) :]:
        asked.pass_on(data)
    assert "of a match that is over" in asked.refusal("outcome", state=state)
    assert asked.refusal("sample") == "sample: no match is open; pass on match_started"
    asked.pass_on(messages[0])  # the next one may have the same name
    assert "no decision of 'basic-1' yet" in asked.refusal("sample")


def test_an_identity_is_repeated(asked):
    assert asked.ask("hello", id="a")["id"] == "a"
    assert asked.line('{"id": 7, "method": "nothing"}')["id"] == 7
    assert "id" in asked.refusal("hello", id=[1])


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("hello", {"protocol_version": 2}, "this sidecar speaks version 1, not 2"),
    ("observe", {}, "one message is needed"),
    ("observe", {"decision": "!"}, "decision: not Base64"),
    ("observe", {"decision": {"match_id": "m9"}}, 'unknown match "m9"'),
    ("observe", {"response": {"goodbye": {}}}, "response: it contains none of match_started"),
    ("sample", {"decision_id": "3"}, "decision 3 is not the last one of 'basic-1', which is 25"),
    ("sample", {"count": 10**9}, "count: 1,000,000,000 is not within 1 to 1,000"),
    ("sample", {"seeds": 1}, 'member "seeds" does not belong to this method'),
    ("legal_actions", {}, "member 'state' is missing"),
    ("legal_actions", {"state": 99}, "unknown state 99: never given, released"),
    ("legal_actions", {"state": 1, "form": "xml"}, 'form: no "xml"; there is text, base64, json'),
    ("apply", {"state": 1}, "actions: at least one is needed"),
    ("apply", {"state": 1, "actions": [999]}, "actions: no legal action 999; the last one is"),
    ("apply", {"state": 1, "actions": ["keep red"]}, "not legal at decision"),
    ("apply", {"state": 1, "actions": [0] * 101}, "101 entries, but the limit is 100"),
    ("view", {"state": 1, "seat": 2}, "seat: 2 is not within 0 to 1"),
    (
        "play_out",
        {"states": [1] * 1_000, "count": 1_000},
        "1,000 playouts of 1,000 states are more than 1,000",
    ),
    ("play_out", {"states": [1], "policy": "best"}, 'policy: no "best"; there is greedy, random'),
    ("play_out", {"states": [1], "policy": ["greedy"]}, "policy: 1 for 2 seats"),
    ("think", {}, 'no method "think"; there is hello, observe'),
]


def test_a_bad_request_is_one_line_that_says_why_and_changes_nothing(asked):
    assert asked.sample(seed=1) == 1
    before = [asked.ask("view", state=1, seat=seat) for seat in (0, 1)]
    for method, members, reason in REFUSED:
        assert reason in asked.refusal(method, **members), (method, members)
    assert [asked.ask("view", state=1, seat=seat) for seat in (0, 1)] == before
    fresh = Asked(up_to_decision(seat_messages(), DECISION))
    fresh.sample(seed=1)
    again = [each.ask("view", state=each.sample(seed=2), seat=1) for each in (asked, fresh)]
    assert again[0] == again[1]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "the line is empty"),
        (b"\xff\n", "not valid UTF-8 at byte 0"),
        (b"{", "not JSON: "),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"method": "worlds", "method": "apply"}', 'member "method" is there more than once'),
        (b"[1, 2]", "a JSON object is needed, not [1, 2]"),
        (b"{}", "member 'method' is missing"),
        (b'{"type": "decision"}', "member 'decision' is missing"),
        (b'{"method": "\\ud800"}', "no method"),
    ],
)
def test_a_line_that_is_no_request_is_refused(line, reason):
    assert reason in Asked().line(line)["error"]


def test_the_number_of_states_is_limited(asked, monkeypatch):
    monkeypatch.setitem(LIMITS, "states", 3)
    states = [asked.sample()]
    states += asked.ask("copy", state=states[0], count=2)["states"]
    refusal = asked.refusal("copy", state=states[0])
    assert refusal == "copy: 3 states are open, and the limit is 3; release some"
    assert asked.ask("release", states=states) == {"released": 3}
    assert asked.sample() == 4


def test_the_number_of_matches_is_limited(monkeypatch):
    monkeypatch.setitem(LIMITS, "matches", 2)
    asked = Asked()
    started = PlayResponse.FromString(seat_messages()[0])
    for match_id in ("m1", "m2"):
        started.match_started.match_id = match_id
        asked.pass_on(started.SerializeToString())
    started.match_started.match_id = "one more"
    refusal = asked.refusal("observe", response=b64encode(started.SerializeToString()).decode())
    assert "2 matches are open, which is the limit" in refusal


def test_a_match_that_resumes_goes_on_from_its_view():
    messages = up_to_decision(seat_messages(EVERYTHING, 3), DECISION)
    resumed = PlayResponse.FromString(messages[0])
    last = PlayResponse.FromString(messages[-1]).decision
    resumed.match_started.resumed = True
    resumed.match_started.view.CopyFrom(last.view)
    resumed.match_started.sequence = last.sequence
    asked = Asked([resumed.SerializeToString(), messages[-1]])
    state = asked.sample()
    assert asked.ask("view", state=state)["view"] == json.loads(message_json(last.view))
    again = PlayResponse()
    again.CopyFrom(resumed)
    asked.pass_on(again.SerializeToString())  # after a further reconnection
    again.match_started.seat = 1
    refusal = asked.refusal("observe", response=b64encode(again.SerializeToString()).decode())
    assert "seat 1, but the match began with seat 0" in refusal


def test_the_longest_line_is_long_enough_for_the_longest_message():
    longest = max(map(len, seat_messages(EVERYTHING, 4)))
    assert 20 * longest < LONGEST_LINE
