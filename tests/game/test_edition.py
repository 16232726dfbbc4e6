"""The edition file: its numbers, and the errors of invalid files."""

import copy
import json
import random
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asara_game.deal import RandomShuffler
from asara_game.edition import EditionError, load_edition, parse_edition
from asara_game.engine import apply, new_match
from asara_game.knowledge.determinize import determinize
from asara_game.rules import RULE_COMBINATIONS, Rules
from asara_game.view import view
from tests.game.knowledge.possible_states import is_possible
from tests.game.play import check_legal, check_tables

SHIPPED = load_edition()
TABLES: dict[str, Any] = tomllib.loads(SHIPPED.data.decode())


def write(value: Any) -> str:
    """A value as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {write(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)


def file(tables: dict[str, Any]) -> bytes:
    """An edition file of these tables."""
    return "\n".join(
        f"{json.dumps(key)} = {write(value)}" for key, value in tables.items()
    ).encode()


REMOVED: Any = object()


def changed(path: str, value: Any) -> bytes:
    """The shipped file with one value replaced or removed; list indices are numbers."""
    tables = copy.deepcopy(TABLES)
    change(tables, path.split("."), value)
    return file(tables)


def change(at: Any, path: Sequence[Any], value: Any) -> None:
    key = path[0] if isinstance(at, dict) else int(path[0])
    if len(path) > 1:
        change(at[key], path[1:], value)
    elif value is REMOVED:
        del at[key]
    else:
        at[key] = value


# The shipped edition.


def test_the_components_of_the_box():
    kinds = [sum(plain + gold for plain, gold in rows) for rows in SHIPPED.tiles]
    assert kinds == [20, 20, 25, 20]
    assert sum(SHIPPED.lit_windows) == 15
    assert sum(SHIPPED.buyers) == 45
    assert sum(count for _, count in SHIPPED.gifts) == 20
    assert sum(count for _, count in SHIPPED.gifts_professional) == 4
    assert SHIPPED.hand_sizes == (9, 8, 7)
    assert SHIPPED.starting_asari == (20, 21, 22, 23)
    assert SHIPPED.prices == (3, 4, 5, 6, 8)


def test_the_gift_decks_run_out_exactly():
    assert sum(count for _, count in SHIPPED.gifts) == len(SHIPPED.chests) * SHIPPED.years
    both = SHIPPED.chests + SHIPPED.chests_professional
    cards = SHIPPED.gifts + SHIPPED.gifts_professional
    assert sum(count for _, count in cards) == len(both) * SHIPPED.years


def test_every_table_names_its_source():
    assert [row.table for row in SHIPPED.sources] == [key for key in TABLES if key != "name"]
    assert all(row.source and row.values for row in SHIPPED.sources)


def test_an_edition_is_the_bytes_of_its_file():
    assert parse_edition(SHIPPED.data) == SHIPPED
    other = parse_edition(file(TABLES))
    assert other == SHIPPED
    assert other.sha256 != SHIPPED.sha256


def test_a_file_is_loaded_by_path(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(changed("years.value", 2))
    assert load_edition(path).years == 2
    path.write_bytes(b"years = ")
    with pytest.raises(EditionError, match=r"mine\.toml: the edition is not valid TOML"):
        load_edition(path)
    with pytest.raises(EditionError, match=r"absent\.toml: No such file"):
        load_edition(tmp_path / "absent.toml")
    with pytest.raises(EditionError, match="directory"):
        load_edition(tmp_path)


def test_an_edition_may_list_a_gift_card_in_several_rows():
    one = b'{ kind = "choose-buyer", count = 4 }'
    two = b'{ kind = "choose-buyer", count = 1 }, { kind = "choose-buyer", count = 3 }'
    split = Rules(parse_edition(SHIPPED.data.replace(one, two)), RULE_COMBINATIONS[1], 2)
    whole = Rules(SHIPPED, RULE_COMBINATIONS[1], 2)
    assert split.edition.gifts != whole.edition.gifts
    assert (split.gift_cards, split.gift_deck) == (whole.gift_cards, whole.gift_deck)


# Files that are wrong.


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("name", "", "name: not a text"),
        ("years", 4, "years: not a table"),
        ("years.value", 0, "years.value: not a whole number from 1 to 60"),
        ("years.value", True, "years.value: not a whole number"),
        ("years.value", 10**300, "not valid TOML: it has an integer of more than 512 bits"),
        ("years.extra", 1, "years.extra: unknown key"),
        ("years.source", 4, "years.source: not a text"),
        ("tiles.base.red", 4, "tiles.base.red: not a list of 2 numbers"),
        ("tiles.dome", {}, "tiles.dome: unknown key"),
        ("hand_size.4", 12, "hand_size.4: 4 hands of 12, but 45 buyers"),
        ("building_circle.plots", [], "building_circle.plots: needs 1 to 8 different numbers"),
        ("building_circle.plots", [1, 16], "building_circle.plots: at most 15"),
        ("house_of_lighted_windows.offers", 4, "offers: not a list of tables"),
        ("house_of_lighted_windows.offers", [], "house_of_lighted_windows.offers: none"),
        ("house_of_lighted_windows.offers.1.asari", 4, "offers: two offers of one price"),
        ("house_of_lighted_windows.offers.1.kept", 3, "offers[1].kept: not 1 or 2"),
        ("house_of_lighted_windows.offers.0.kept", 2, None),
        ("gifts.cards.0.kind", "steal", "gifts.cards[0].kind: 'steal' is not one of choose-buyer"),
        ("gifts.chests", "bank 6", "gifts.chests: not a list of spaces"),
        ("gifts.chests.4", 6, "gifts.chests: not a list of spaces"),
        ("gifts.chests.4", "bank 7", "gifts.chests[4]: no space 'bank 7'"),
        ("gifts.chests.4", "coloured-building 1", "gifts.chests[4]: no chest can stand"),
        ("gifts.chests.4", "base-market 1", "gifts.chests[4]: 'base-market 1' has a chest already"),
        (
            "gifts_professional.chests.0",
            "genie 3",
            "gifts_professional.chests[0]: no space 'genie 3'",
        ),
        ("gifts_professional.chests.0", "tent 4", None),
    ],
)
def test_a_wrong_value_is_named(path, value, complaint):
    data = changed(path, value)
    if complaint is None:
        parse_edition(data)
        return
    with pytest.raises(EditionError) as refused:
        parse_edition(data)
    assert complaint in str(refused.value)


KEYS = [f"{name}.{key}" for name, table in TABLES.items() if name != "name" for key in table]


@pytest.mark.parametrize("path", ["name", *(k for k in TABLES if k != "name"), *KEYS])
def test_a_missing_key_is_named(path):
    with pytest.raises(EditionError) as refused:
        parse_edition(changed(path, REMOVED))
    assert str(refused.value) == f"{path}: missing"


# Fuzz: a file is an edition that can be played, or it is refused with EditionError.

_LEAVES = st.one_of(
    st.none().map(lambda _: {}),
    st.booleans(),
    st.integers(-2, 70),
    st.integers(),
    st.floats(),
    st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=8),
    st.sampled_from(
        ["bank 6", "base-market 2", "circle 3", "spies 5", "asari", "prestige", "base"]
    ),
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab1", max_size=2), inner),
    max_leaves=6,
)


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all values of the file."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from nodes(inner, (*path, key))


_PATHS = list(nodes(TABLES))
_NUMBERS = [path for path in _PATHS if str(path[-1]) not in ("source", "name", "kind")]
"""Values that can be replaced by other numbers and mostly leave an odd, but valid edition."""
_ODD = st.tuples(st.sampled_from(_NUMBERS), st.integers(0, 60))
_WRONG = st.tuples(st.sampled_from(_PATHS), _VALUES | st.just(REMOVED))


def check_file(data: bytes, seed: int) -> None:
    """Refuse the file, or play it under some rule sets."""
    try:
        edition = parse_edition(data)
    except EditionError as error:
        assert str(error)  # noqa: PT017 - any text will do
        return
    dice = random.Random(seed)
    rules = Rules(edition, dice.choice(RULE_COMBINATIONS), dice.choice((2, 3, 4)))
    state, _ = new_match(rules, RandomShuffler(dice))
    for _ in range(150):
        if state.seat < 0:
            break
        check_tables(state)
        if dice.random() < 0.1:
            check_legal(state)
            seen = view(state, state.seat)
            assert is_possible(seen, state)
            assert is_possible(seen, determinize(seen, dice))
        apply(state, dice.choice(state.legal))


@settings(max_examples=60)
@given(st.lists(_ODD, max_size=6), st.lists(_WRONG, max_size=1), st.integers(0, 2**32))
def test_a_disturbed_file_is_refused_or_can_be_played(odd, wrong, seed):
    tables = copy.deepcopy(TABLES)
    for path, value in (*odd, *wrong):
        with suppress(KeyError, IndexError, TypeError, ValueError):  # the place may be gone
            change(tables, path, value)
    check_file(file(tables), seed)
