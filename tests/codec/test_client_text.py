import json
from pathlib import Path
from typing import Any

import pytest

import asara
from asara_codec.encode import action_message
from asara_game.actions import parse_action

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "actions.json").read_text()
)


@pytest.mark.parametrize(
    ("action", "text"),
    [(asara.Action(), "no action"), (asara.Action(pay_offer=asara.PayOffer(asari=4)), "pay 4")],
)
def test_messages_that_no_rule_made(action: asara.Action, text: str) -> None:
    assert asara.format_action(action) == text


@pytest.mark.parametrize("vector", VECTORS["actions"], ids=lambda vector: vector["text"])
def test_actions_are_formatted_and_parsed_as_the_vectors_say(vector: dict[str, str]) -> None:
    action = asara.Action.FromString(bytes.fromhex(vector["hex"]))
    assert asara.format_action(action) == vector["text"]
    assert asara.parse_action(vector["text"]).SerializeToString().hex() == vector["hex"]
    of_engine = parse_action(f" {vector['text'].replace(' ', '  ')}  ")
    assert str(of_engine) == vector["text"]
    assert action_message(of_engine) == action


@pytest.mark.parametrize("vector", VECTORS["unparsable"], ids=lambda vector: vector["text"])
def test_actions_unknown_to_this_version_are_formatted_only(vector: dict[str, str]) -> None:
    action = asara.Action.FromString(bytes.fromhex(vector["hex"]))
    assert asara.format_action(action) == vector["text"]
    with pytest.raises(ValueError, match="action "):
        asara.parse_action(vector["text"])


@pytest.mark.parametrize("text", VECTORS["invalid"])
def test_other_texts_are_no_actions(text: str) -> None:
    for parse in (asara.parse_action, parse_action):
        with pytest.raises(ValueError, match="action "):
            parse(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("sell red trunk", "no verb 'sell'; one of dispatch, lay, take, "),
        ("take red trnk", "no section kind 'trnk'; one of base, trunk, window, turret"),
        ("take red trunk golden", "unexpected 'golden'"),
        ("build three", "'three' is not a number"),
        ("build", "a number is missing"),
        ("dispatch spies", "the number of a space is missing"),
        ("wish bank ten", "'ten' is not the number of a space"),
        ("keep", "a colour is missing"),
        ("keep white red", "not in canonical form; write 'keep red white'"),
    ],
)
def test_the_wrong_word_is_named(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=f"action {text!r}: {fault}"):
        asara.parse_action(text)
