"""Shuffles and set-ups agree with `tests/vectors/deal.json`, in two implementations."""

import hashlib
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asara_game.actions import format_section, format_space
from asara_game.deal import Deal
from asara_game.engine import apply, new_match
from asara_game.events import GiftLaid
from asara_game.state import SHUFFLED, State
from asara_game.vocabulary import SECTION_TYPES, BuyerColour, Colour, GiftCard, SectionKind
from tests.game import naive_deal
from tests.game.table import rules, told

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "deal.json").read_text()
)


def test_the_set_ups_are_of_the_shipped_edition():
    """If this fails, the edition has changed: `python -m tests.vectors.regenerate`."""
    assert naive_deal.edition_sha256() == VECTORS["edition_sha256"]


def test_shuffles():
    for row in VECTORS["shuffles"]:
        secret = bytes.fromhex(row["secret"])
        order, naive = list(range(row["length"])), list(range(row["length"]))
        Deal(secret).shuffle(row["label"], order)
        naive_deal.shuffle(secret, row["label"], naive)
        assert order == naive == row["order"]


def test_long_shuffles_pass_over_words_that_are_too_large():
    assert any(row["words_passed_over"] for row in VECTORS["long_shuffles"])
    for row in VECTORS["long_shuffles"]:
        order = list(range(row["length"]))
        Deal(bytes.fromhex(row["secret"])).shuffle(row["label"], order)
        digest = hashlib.sha256(b"".join(n.to_bytes(4, "big") for n in order)).hexdigest()
        assert digest == row["sha256"]


@given(st.binary(min_size=32, max_size=32), st.text(max_size=12), st.integers(0, 60))
def test_both_implementations_agree(secret, label, length):
    order, naive = list(range(length)), list(range(length))
    Deal(secret).shuffle(label, order)
    naive_deal.shuffle(secret, label, naive)
    assert order == naive
    assert sorted(order) == list(range(length))


def name(row: dict[str, Any]) -> str:
    return f"{row['rule_sets']}-{row['seats']}-{row['secret'][:4]}"


@pytest.mark.parametrize("row", VECTORS["set_ups"], ids=name)
def test_set_ups(row):
    secret = bytes.fromhex(row["secret"])
    deal = Deal(secret)
    assert deal.commitment().hex() == row["commitment"]
    state, events = new_match(rules(row["rule_sets"], row["seats"]), deal)
    found = what_lies_where(state)
    assert found == {key: row[key] for key in found}
    laid = {format_space(e.space): card_text(e.card) for e in told(events, GiftLaid)}
    assert laid == row["gifts"]


def what_lies_where(state: State) -> dict[str, Any]:
    """The table in the words of the vectors."""
    found: dict[str, Any] = {"displays": {}, "piles": {}}
    for kind in SectionKind:
        types = [format_section(section) for section in SECTION_TYPES if section.kind == kind]
        counts = state.display_of(kind - 1)
        name = kind.name.lower()
        found["displays"][name] = [
            text for text, count in zip(types, counts, strict=True) for _ in range(count)
        ]
        found["piles"][name] = [types[index] for index in reversed(state.piles[kind - 1])]
    found["hands"] = [
        [c.name.lower() for c in BuyerColour for _ in range(hand >> 6 * (c - 1) & 63)]
        for hand in state.hands
    ]
    found["buyer_pile"] = [BuyerColour(c).name.lower() for c in reversed(state.buyer_pile)]
    found["lit_window_stack"] = [Colour(c).name.lower() for c in reversed(state.lit_stack)]
    cards = state.rules.gift_cards
    found["gift_deck"] = [card_text(cards[index]) for index in reversed(state.gift_deck)]
    found["gifts"] = {
        format_space(info.space): card_text(*lying)
        for info, lying in zip(state.rules.chests, state.chests, strict=True)
    }
    return found


def card_text(card: GiftCard) -> str:
    kind = card.kind.name.lower().replace("_", "-")
    section = SectionKind(card.section_kind).name.lower() if card.section_kind else ""
    return f"{kind} {card.asari or card.prestige or section or ''}".strip()


def test_a_secret_has_32_bytes():
    for length in (0, 31, 33):
        with pytest.raises(ValueError, match="32 bytes"):
            Deal(bytes(length))


def test_every_shuffle_of_a_match_has_a_label_of_its_own():
    labels = []

    class Listening(Deal):
        def shuffle(self, label: str, items: list[int]) -> None:
            labels.append(label)
            assert items == sorted(items), "a shuffle starts from the sorted contents"
            super().shuffle(label, items)

    dice = random.Random(4)
    state, _ = new_match(rules("pro+gifts+genie", 3), Listening(bytes(32)))
    while state.seat >= 0:
        apply(state, dice.choice(state.legal))
    assert len(set(labels)) == len(labels)
    counts = Counter(label.split("/")[0] for label in labels)
    for thing, count in zip(SHUFFLED, state.shuffle_counts, strict=True):
        assert counts[thing] == count
        assert {f"{thing}/{n}" for n in range(count)} <= set(labels)
