"""Actions and their text form."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asara_game.actions import (
    Action,
    BuildCount,
    ChooseBuyer,
    ChooseSpace,
    Decline,
    ExtendTower,
    FoundTower,
    KeepLitWindows,
    LayBuyers,
    LightWindow,
    PayOffer,
    ReturnLitWindow,
    SearchPile,
    TakeSection,
    Wish,
    format_space,
    parse_action,
    parse_space,
)
from asara_game.vocabulary import Area, BuyerColour, Colour, Section, SectionKind, Space
from tests.game.play import CASES, playout
from tests.game.table import rules

R, G = Colour.RED, Colour.GREEN
TRUNK = Section(SectionKind.TRUNK, R, False)
GOLD_TRUNK = TRUNK._replace(gold=True)
BLUE, ORANGE = BuyerColour.BLUE, BuyerColour.ORANGE

FORMS: list[tuple[Action, str]] = [
    (ChooseSpace(Space(Area.BANK, 12)), "dispatch bank 12"),
    (ChooseSpace(Space(Area.BASE_MARKET, 1)), "dispatch base-market 1"),
    (ChooseSpace(Space(Area.BUILDING_CIRCLE, 5)), "dispatch circle 5"),
    (ChooseSpace(Space(Area.COLOURED_BUILDING, 1)), "dispatch coloured-building 1"),
    (ChooseSpace(Space(Area.HOUSE_OF_SPIES, 3)), "dispatch spies 3"),
    (ChooseSpace(Space(Area.CALIPHS_PATRONAGE, 1)), "dispatch patronage 1"),
    (ChooseSpace(Space(Area.TENT, 2)), "dispatch tent 2"),
    (ChooseSpace(Space(Area.HOUSE_OF_LIGHTED_WINDOWS, 1)), "dispatch lit-windows 1"),
    (ChooseSpace(Space(Area.HOUSE_OF_THE_BOTTLE_GENIE, 3)), "dispatch genie 3"),
    (LayBuyers((BLUE,), False), "lay blue"),
    (LayBuyers((BLUE,), True), "lay blue face-down"),
    (LayBuyers((BLUE, ORANGE), True), "lay blue orange face-down"),
    (TakeSection(TRUNK), "take red trunk"),
    (TakeSection(GOLD_TRUNK), "take red trunk gold"),
    (Decline(), "decline"),
    (BuildCount(3), "build 3"),
    (FoundTower(R, False, False), "found red"),
    (FoundTower(R, True, False), "found red gold-base"),
    (FoundTower(R, False, True), "found red gold-turret"),
    (FoundTower(R, True, True), "found red gold-base gold-turret"),
    (ExtendTower(1, TRUNK), "extend 1 red trunk"),
    (ExtendTower(12, GOLD_TRUNK), "extend 12 red trunk gold"),
    (LightWindow(1, False), "light 1"),
    (LightWindow(1, True), "light 1 gold"),
    (SearchPile(SectionKind.TURRET), "search turret"),
    (PayOffer(4), "pay 4"),
    (KeepLitWindows((R,)), "keep red"),
    (KeepLitWindows((G, R)), "keep green red"),
    (Wish(Space(Area.BANK, 12)), "wish bank 12"),
    (ChooseBuyer(BLUE), "choose blue"),
    (ReturnLitWindow(R), "return red"),
]


@pytest.mark.parametrize(("action", "text"), FORMS, ids=[text for _, text in FORMS])
def test_text_form(action, text):
    assert str(action) == text
    assert parse_action(text) is action
    assert parse_action(f"  {text} ".replace(" ", "  ")) is action


@pytest.mark.parametrize(("rule_sets", "seats"), CASES)
def test_every_legal_action_survives_its_text(rule_sets, seats):
    seen = {a for moment in playout(rules(rule_sets, seats), 1) for a in moment.state.legal}
    texts = {str(action): action for action in seen}
    assert len(texts) == len(seen)
    assert all(parse_action(text) is action for text, action in texts.items())


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
        ("dispatch", "no area ''"),
        ("dispatch moon 1", "'moon'"),
        ("dispatch bank", "number is missing"),
        ("dispatch bank twelve", "'twelve'"),
        ("dispatch bank 12 13", "'13'"),
        ("dispatch bank 012", "dispatch bank 12"),
        ("dispatch bank -1", "'-1'"),
        ("dispatch bank ١٢", "number"),
        ("dispatch bank 123456789", "number"),
        ("lay", "one buyer, or two"),
        ("lay face-down", "one buyer, or two"),
        ("lay blue green", "one buyer, or two"),
        ("lay blue blue blue face-down", "one buyer, or two"),
        ("lay green blue face-down", "lay blue green face-down"),
        ("lay face-down blue", "'face-down'"),
        ("return", "is missing"),
        ("return pink", "'pink'"),
        ("return red green", "'green'"),
        ("take red", "base, trunk, window, turret is missing"),
        ("take pink trunk", "'pink'"),
        ("take red trunk silver", "'silver'"),
        ("found red gold-base silver", "'silver'"),
        ("found red gold-turret gold-base", "found red gold-base gold-turret"),
        ("found red gold-base gold-base", "found red gold-base"),
        ("extend red trunk", "'red'"),
        ("light 1 gold gold", "'gold'"),
        ("keep", "colour is missing"),
        ("keep red green", "keep green red"),
        ("decline all", "'all'"),
        ("Decline", "'Decline'"),
    ],
)
def test_what_is_no_action_is_refused_with_the_word_that_is_wrong(text, complaint):
    with pytest.raises(ValueError, match=r"^action ") as refused:
        parse_action(text)
    assert repr(text) in str(refused.value)
    assert complaint in str(refused.value).removeprefix(f"action {text!r}: ")


_WORDS = sorted({word for _, text in FORMS for word in text.split()})


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


@pytest.mark.parametrize("area", Area)
def test_spaces_survive_their_text(area):
    assert parse_space(format_space(Space(area, 7))) == Space(area, 7)


@pytest.mark.parametrize("text", ["", "bank", "bank 12 12", "12 bank", "bank twelve", "BANK 12"])
def test_what_is_no_space_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_space(text)
