"""Actions and their text form, whose round trips are in tests/codec."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asara_game.actions import BuildCount, FoundTower, PayOffer, parse_action, parse_space
from asara_game.vocabulary import Colour
from tests.codec.every_action import ACTIONS


def test_equal_actions_are_one_object():
    made = FoundTower(Colour.WHITE, True, False)
    assert FoundTower(colour=Colour.WHITE, base_gold=True, turret_gold=False) is made
    assert FoundTower(Colour.WHITE, turret_gold=False, base_gold=True) is made
    assert FoundTower(Colour.WHITE, False, True) is not made
    assert copy.copy(made) is copy.deepcopy(made) is pickle.loads(pickle.dumps(made)) is made
    assert len({BuildCount(3), PayOffer(3), BuildCount(3)}) == 2
    with pytest.raises(TypeError, match="red"):
        FoundTower(Colour.WHITE, True, False, red=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="turret_gold"):
        FoundTower(Colour.WHITE, base_gold=True)  # type: ignore[call-arg]


def test_actions_do_not_change():
    with pytest.raises(AttributeError):
        BuildCount(3).count = 4  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no verb"),
        ("jump bank 12", "'jump'"),
        ("dispatch moon 1", "'moon'"),
        ("dispatch bank", "the number of a space is missing"),
        ("dispatch bank 012", "dispatch bank 12"),
        ("dispatch bank -1", "'-1'"),
        ("dispatch bank ١٢", "number"),
        ("dispatch bank 123456789", "number"),
        ("lay", "one buyer, or two"),
        ("lay blue blue blue face-down", "one buyer, or two"),
        ("lay green blue face-down", "lay blue green face-down"),
        ("take red", "base, trunk, window, turret is missing"),
        ("take pink trunk", "'pink'"),
        ("found red gold-base silver", "'silver'"),
        ("found red gold-turret gold-base", "found red gold-base gold-turret"),
        ("keep", "colour is missing"),
        ("keep red green", "keep green red"),
    ],
)
def test_what_is_no_action_is_refused_with_the_word_that_is_wrong(text, complaint):
    with pytest.raises(ValueError, match=r"^action ") as refused:
        parse_action(text)
    assert repr(text) in str(refused.value)
    assert complaint in str(refused.value).removeprefix(f"action {text!r}: ")


_WORDS = sorted({word for action in ACTIONS for word in str(action).split()})


@settings(max_examples=400)
@given(
    st.one_of(
        st.text(max_size=40),
        st.lists(st.sampled_from([*_WORDS, "0", "-1", "1e3", "²", "gold"]), max_size=6).map(
            " ".join
        ),
    )
)
def test_garbage_raises_value_error_alone(text):
    try:
        action = parse_action(text)
    except ValueError:
        return
    assert str(action) == " ".join(text.split())


@pytest.mark.parametrize("text", ["", "bank", "bank 12 12", "12 bank", "bank twelve", "BANK 12"])
def test_what_is_no_space_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_space(text)
