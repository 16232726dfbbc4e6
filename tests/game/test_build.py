"""Building towers: the clauses, and every build against a search that knows no canonical order."""

from collections import Counter
from collections.abc import Iterable, Iterator

from hypothesis import example, given, settings
from hypothesis import strategies as st

from asara_game.actions import format_section
from asara_game.engine import apply
from asara_game.events import BuildStarted
from asara_game.state import State
from asara_game.vocabulary import Colour, DecisionKind, Section, SectionKind, Tower
from tests.game.table import Table, section, told, tower

# The clauses.


def test_the_rulebooks_example_of_a_build():
    table = Table()
    table.towers(0, tower("black"))
    table.stock(0, "white base", "white turret", "black window", "red trunk")
    assert table.offers("circle") == [1, 2, 3]
    events = table.send("circle 3", "blue")
    assert table.public.seats[0].towers == (tower("black", 3, plain_windows=1), tower("white"))
    assert told(events, BuildStarted) == [BuildStarted(0, 3, -3)]
    assert table.prestige(0) == 3
    assert table.asari(0) == 17
    assert [format_section(s) for s in held(table)] == ["red trunk"]


def held(table: Table) -> Iterator[Section]:
    """Seat 0's unbuilt sections, by kind and colour."""
    for index, count in enumerate(table.private(0).sections):
        kind, rest = divmod(index, 10)
        colour, gold = divmod(rest, 2)
        yield from [Section(SectionKind(kind + 1), Colour(colour + 1), bool(gold))] * count


def test_sections_of_one_colour_go_to_the_tower_that_the_player_names():
    table = Table()
    table.towers(0, tower("red"), tower("red"))
    table.stock(0, "red trunk", "red trunk gold")
    table.send("circle 1", "blue")
    assert table.offered() == [
        "extend 1 red trunk",
        "extend 2 red trunk",
        "extend 1 red trunk gold",
        "extend 2 red trunk gold",
    ]
    table.play("extend 2 red trunk gold")
    assert table.public.seats[0].towers == (tower("red"), tower("red", 3, gold_trunks=1))


# Every build, found by a search that tries the steps in any order.

_Towers = tuple[Tower, ...]


def naive_builds(
    stock: Counter[Section], lit: Counter[Colour], standing: _Towers, most: int
) -> dict[int, set[_Towers]]:
    """By number of sections: the sets of towers that a build can lead to.

    New towers stand behind the others, by colour and gold.
    """
    found: dict[int, set[_Towers]] = {n: set() for n in range(most + 1)}
    for new, left in _foundings(stock, most // 2):
        towers = standing + tuple(sorted(new))
        seen = {(towers, frozenset(left.items()), frozenset(lit.items()))}
        for n in range(2 * len(new), most + 1):
            found[n] |= {after for after, _, _ in seen}
            seen = {
                step
                for after, sections, windows in seen
                for step in _single_steps(after, dict(sections), dict(windows), standing)
            }
    return found


def _foundings(stock: Counter[Section], most: int) -> Iterable[tuple[_Towers, Counter[Section]]]:
    """Sets of new towers, each once, and the sections that are left."""
    found: dict[_Towers, Counter[Section]] = {(): stock}
    edge = list(found.items())
    for _ in range(most):
        following: dict[_Towers, Counter[Section]] = {}
        for new, left in edge:
            for base in [s for s in left if s.kind == SectionKind.BASE and left[s]]:
                for turret in [s for s in left if s.kind == SectionKind.TURRET and left[s]]:
                    if base.colour == turret.colour:
                        row = (*new, Tower(base.colour, base.gold, turret.gold))
                        following[tuple(sorted(row))] = left - Counter((base, turret))
        edge = list(following.items())
        found |= following
    return found.items()


_Step = tuple[_Towers, frozenset[tuple[Section, int]], frozenset[tuple[Colour, int]]]


def _single_steps(
    towers: _Towers, stock: dict[Section, int], lit: dict[Colour, int], standing: _Towers
) -> Iterator[_Step]:
    for number, t in enumerate(towers):
        for s, count in stock.items():
            if count and s.colour == t.colour and s.kind in (SectionKind.TRUNK, SectionKind.WINDOW):
                field = f"{'gold' if s.gold else 'plain'}_{s.kind.name.lower()}s"
                yield (
                    _grown(towers, number, field),
                    frozenset({**stock, s: count - 1}.items()),
                    frozenset(lit.items()),
                )
        if number < len(standing) and lit.get(t.colour):
            before = standing[number]
            after = frozenset({**lit, t.colour: lit[t.colour] - 1}.items())
            if t.lit_plain < before.plain_windows:
                yield _grown(towers, number, "lit_plain"), frozenset(stock.items()), after
            if t.lit_gold < before.gold_windows:
                yield _grown(towers, number, "lit_gold"), frozenset(stock.items()), after


def _grown(towers: _Towers, number: int, field: str) -> _Towers:
    t = towers[number]
    grown = t._replace(**{field: getattr(t, field) + 1})
    return (*towers[:number], grown, *towers[number + 1 :])


def engine_builds(state: State) -> list[_Towers]:
    """The towers at the end of every path of steps from here; the build belongs to seat 0."""
    if state.kind != DecisionKind.BUILD or state.seat != 0:
        return [state.towers[0]]
    found = []
    for action in state.legal:
        after = state.copy()
        apply(after, action)
        found += engine_builds(after)
    return found


_NAMES = ("red", "green")
_SECTIONS = st.builds(
    lambda colour, kind, gold: f"{colour} {kind}{gold}",
    st.sampled_from(_NAMES),
    st.sampled_from(["base", "trunk", "window", "turret"]),
    st.sampled_from(["", "", " gold"]),
)
_TOWERS = st.builds(
    lambda colour, plain, gold, lit: tower(
        colour, 2 + plain + gold, plain_windows=plain, gold_windows=gold, lit_plain=min(plain, lit)
    ),
    st.sampled_from(_NAMES),
    st.integers(0, 2),
    st.integers(0, 1),
    st.integers(0, 1),
)
_LIT = st.lists(st.sampled_from(_NAMES), max_size=3)


def check_builds(sections, towers, lit):
    table = Table("pro")
    table.hand(1, "")
    table.hand(0, "blue blue")
    table.money(0, 50)
    table.towers(0, *towers)
    table.stock(0, *sections)
    table.lit(0, " ".join(lit))
    expected = naive_builds(
        Counter(map(section, sections)),
        Counter(Colour[name.upper()] for name in lit),
        tuple(towers),
        7,
    )
    assert table.offers("circle") == [n for n in range(1, 8) if expected[n]]
    start = table.state
    for plot in table.offers("circle"):
        table.state = start.copy()
        table.play(f"dispatch circle {plot}")
        if table.state.kind == DecisionKind.BUYERS:
            table.play("lay blue")
        ends = engine_builds(table.state)
        assert len(ends) == len(set(ends)), "a build is one path only"
        assert set(ends) == expected[plot]


@settings(max_examples=60)
@given(st.lists(_SECTIONS, max_size=7), st.lists(_TOWERS, max_size=2), _LIT)
@example(["red base", "red base gold", "red turret", "red turret gold"], [], [])
@example(["red base", "red turret gold", "red base gold", "red turret"], [tower("red")], ["red"])
@example(["red window"], [tower("red", 3, plain_windows=1)], ["red", "red"])
@example(
    ["red base", "red turret", "green base", "green turret", "red trunk"],
    [tower("red", 3, plain_windows=1, lit_plain=1)],
    ["red"],
)
def test_the_steps_reach_every_build_once(sections, towers, lit):
    check_builds(sections, towers, lit)


def test_identical_towers_founded_together_have_numbers_of_their_own():
    table = Table()
    table.stock(0, *["red base", "red turret"] * 2, "red trunk", "red trunk")
    table.send("circle 6", "blue")  # both foundings are forced
    assert table.offered() == ["extend 1 red trunk", "extend 2 red trunk"]
    table.play("extend 1 red trunk", "extend 2 red trunk")
    assert table.public.seats[0].towers == (tower("red", 3), tower("red", 3))
