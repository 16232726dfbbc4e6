"""Observations: every entry is what its name says, and follows from the view alone."""

import random
from collections import Counter

import numpy as np
import pytest

from asara_env.observation import (
    OBSERVATION_BYTES,
    OBSERVATION_SIZE,
    PARTS,
    Observer,
    StateObserver,
    as_dictionary,
    observation_limits,
    observation_names,
    observe,
)
from asara_game.actions import ExtendTower
from asara_game.view import RunningView, view
from asara_game.vocabulary import SECTION_TYPES, Area, DecisionKind, GiftKind, SectionKind
from tests.game.play import WIDE_CASES, builder, playout, visitor
from tests.game.table import rules

INDEX = {name: index for index, name in enumerate(observation_names())}
PLAYERS = (builder, visitor)
SEATS = ("self", "next1", "next2", "next3")


def naive(seen):
    """The entries that are not 0, by name, written down without any cleverness."""
    public, private = seen.public, seen.private
    seats = len(public.seats)
    found: Counter[str] = Counter()

    def player(seat):
        return SEATS[(seat - private.seat) % seats]

    edition = seen.rules.edition
    positions = {info.space: info.position + 1 for info in seen.rules.spaces}
    for word, played in (
        ("pro", seen.rules.professional),
        ("gifts", seen.rules.gifts),
        ("genie", seen.rules.genie),
    ):
        found[f"rules/{word}"] = int(played)
    found[f"seats/{seats}"] = found[f"own_seat/{private.seat}"] = 1
    found["year"] = public.year
    found[f"players/{player(public.turn_seat)}/turn"] = 1
    found[f"players/{player(public.patronage_seat)}/patronage"] = 1
    found["buyer_pile"] = public.buyer_pile_size
    found["lit_stack"] = public.lit_stack_size
    found["gift_deck"] = public.gift_deck_size
    for kind, size in zip(SectionKind, public.pile_sizes, strict=True):
        found[f"piles/{kind.name.lower()}"] = size
    display = [count for market in public.displays for count in market]
    sections(found, "displays", dict(zip(SECTION_TYPES, display, strict=True)))
    for area, colour in enumerate(public.area_colours):
        if colour:
            found[f"area_colours/{area_word(area)}/{buyer_word(colour)}"] = 1
    for space, seat, colour in (mark for area in public.dispatched for mark in area):
        name = f"{space.area.name.lower()}{positions[space]}"
        found[f"spaces/{player(seat)}/{name}"] += 1
        found[f"face_down_at/{name}"] += not colour
    chests = (*edition.chests, *edition.chests_professional)
    for space, held in public.chests:
        cards(found, f"chests/chest{chests.index(space) + 1}", held)
    for seat, facts in enumerate(public.seats):
        name = f"players/{player(seat)}"
        found[f"{name}/plays"] = 1
        found[f"{name}/prestige"] = facts.prestige
        found[f"{name}/hand"] = facts.hand_size
        found[f"{name}/lit-windows"] = facts.lit_windows
        found[f"{name}/towers"] = len(facts.towers)
        towers(found, f"towers/{player(seat)}", facts.towers)
    own(found, private)
    decision(found, seen)
    return +found


def area_word(area):
    return Area(area).name.lower()


def buyer_word(colour):
    return ("blue", "yellow", "purple", "green", "orange")[colour - 1]


def colour_word(colour):
    return ("brown", "green", "red", "black", "white")[colour - 1]


def sections(found, name, counts):
    for section, count in counts.items():
        gold = "-gold" if section.gold else ""
        word = f"{colour_word(section.colour)}-{section.kind.name.lower()}{gold}"
        found[f"{name}/{word}"] = count


def cards(found, name, held):
    for card in held:
        if card.kind == GiftKind.BUY_SECTION:
            found[f"{name}/buy-{SectionKind(card.section_kind).name.lower()}"] += 1
        elif card.kind == GiftKind.ASARI:
            found[f"{name}/asari"] += card.asari
        elif card.kind == GiftKind.PRESTIGE:
            found[f"{name}/prestige"] += card.prestige
        else:
            found[f"{name}/{card.kind.name.lower().replace('_', '-')}"] += 1


def towers(found, name, standing):
    ranks: Counter[int] = Counter()
    for number, tower in enumerate(standing, 1):
        ranks[tower.colour] += 1
        slot = f"{name}/{colour_word(tower.colour)}/tower{ranks[tower.colour]}"
        found[f"{slot}/stands"] = 1
        found[f"{slot}/number"] = number
        for field in tower._fields[1:]:
            found[f"{slot}/{field.replace('_', '-')}"] = int(getattr(tower, field))


def own(found, private):
    found["asari"] = private.asari
    for colour, count in enumerate(private.hand, 1):
        found[f"hand/{buyer_word(colour)}"] = count
    sections(found, "sections", dict(zip(SECTION_TYPES, private.sections, strict=True)))
    for colour, count in enumerate(private.lit_windows, 1):
        found[f"lit_windows/{colour_word(colour)}"] = count
    for _, buyers in private.face_down:
        for buyer in buyers:
            found[f"face_down/{buyer_word(buyer)}"] += 1
    for above, colour in private.known_lit_windows:
        found[f"known_lit_windows/place{above + 1}/{colour_word(colour)}"] = 1
    sections(found, "searched_sections", Counter(private.searched_sections))
    for buyer in private.searched_buyers:
        found[f"searched_buyers/{buyer_word(buyer)}"] += 1
    for colour in private.searched_lit_windows:
        found[f"searched_lit_windows/{colour_word(colour)}"] += 1


def decision(found, seen):
    asked = seen.decision
    if asked is None:
        return
    found["decides"] = int(bool(seen.legal))
    found[f"decision/{asked.kind.name.lower()}"] = 1
    if asked.space is not None:
        position = next(i.position for i in seen.rules.spaces if i.space == asked.space) + 1
        found[f"space/{asked.space.area.name.lower()}{position}"] = 1
    found["sections_to_build"] = asked.sections_to_build
    found["lit_windows_to_keep"] = asked.lit_windows_to_keep
    cards(found, "gift_now", asked.gifts[:1])
    cards(found, "gifts_left", asked.gifts)
    found["build_steps"] = len(asked.build_steps)
    standing = seen.public.seats[seen.private.seat].towers
    for step in asked.build_steps:
        if isinstance(step, ExtendTower) and step.section.kind == SectionKind.WINDOW:
            before = standing[: step.tower]
            rank = sum(tower.colour == step.section.colour for tower in before)
            gold = "gold" if step.section.gold else "plain"
            found[f"new_windows/{colour_word(step.section.colour)}/tower{rank}/{gold}"] += 1
    if asked.build_steps:
        last = asked.build_steps[-1]
        words = str(last).split()
        if words[0] == "found":
            found[f"step_colour/{words[1]}"] = found["step_kind/found"] = 1
            return
        number = int(words[1])
        found["step_tower"] = number
        found[f"step_colour/{colour_word(standing[number - 1].colour)}"] = 1
        found["step_kind/light" if words[0] == "light" else f"step_kind/{words[3]}"] = 1
        found["step_kind/gold"] = int(words[-1] == "gold")


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_every_entry_is_what_its_name_says(rule_sets, seats):
    limits = observation_limits()
    dice = random.Random(seats)
    names = observation_names()
    for moment in playout(rules(rule_sets, seats), 1, dice.choice((builder, visitor))):
        seat = moment.state.seat
        if seat >= 0 and dice.random() < 0.5:
            continue
        if seat < 0 or dice.random() < 0.3:
            seat = dice.randrange(seats)
        seen = view(moment.state, seat)
        observation = observe(seen)
        found = {names[i]: int(observation[i]) for i in np.flatnonzero(observation)}
        assert found == dict(naive(seen))
        assert (observation >= 0).all()
        assert (observation <= limits).all()


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_observations_one_after_the_other_are_those_made_afresh(rule_sets, seats):
    """By observers of one seat, by one of all seats, and in the environments' quicker form."""
    observers = [Observer() for _ in range(seats)]
    mixed = Observer()
    data = bytearray(2 * OBSERVATION_BYTES)
    policy = random.Random(rule_sets).choice(PLAYERS)
    for seed in range(2):
        moments = playout(rules(rule_sets, seats), seed, policy)
        start = next(moments).state
        running, quick, before = RunningView(start), StateObserver(start), None
        for state, _, _ in moments:
            if state.seat < 0:
                break
            looked = state.kind == DecisionKind.BUYERS and before == DecisionKind.SPACE
            before = state.kind
            seen = running.deciding()
            fresh = observe(view(state, state.seat))
            assert (observers[seen.private.seat].observe(seen) == fresh).all()
            assert (mixed.observe(seen) == fresh).all()
            quick.write(data, OBSERVATION_BYTES, looked)
            assert data[OBSERVATION_BYTES:] == fresh.tobytes()
    assert not any(data[:OBSERVATION_BYTES])


def test_the_layout_has_no_gaps_and_no_name_twice():
    indices = np.concatenate([part.indices().ravel() for part in PARTS])
    assert sorted(indices) == list(range(OBSERVATION_SIZE))
    assert all(len(list(part.names())) == part.size for part in PARTS)
    assert len(observation_names()) == len(set(observation_names())) == OBSERVATION_SIZE


def test_the_dictionary_has_the_parts_with_their_shapes():
    batch = np.arange(2 * OBSERVATION_SIZE, dtype=np.float32).reshape(2, -1)
    parts = as_dictionary(batch)
    assert parts["towers"].shape == (2, 4, 5, 4, 10)
    assert parts["year"].shape == (2,)
    assert parts["towers"][1, 0, 2, 0, 1] == batch[1, INDEX["towers/self/red/tower1/number"]]
    assert all(np.shares_memory(part, batch) for part in parts.values())
    with pytest.raises(ValueError, match=f"an observation has {OBSERVATION_SIZE} entries"):
        as_dictionary(batch[:, 1:])
