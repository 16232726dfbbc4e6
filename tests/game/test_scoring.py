"""The evaluations: the year's, and the one after the last year."""

import random
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from asara_game.edition import load_edition
from asara_game.engine import outcome
from asara_game.events import FinalEvaluated, YearEvaluated
from asara_game.scoring import final_evaluation
from asara_game.vocabulary import Colour, Tower
from tests.game.table import Table, told, tower

EDITION = load_edition()


def final(*seats, money=None):
    """The final evaluation of these seats' towers."""
    return final_evaluation(EDITION, seats, money or [0] * len(seats))


def heights(**sizes):
    """A seat's towers: by colour one height or several."""
    found = []
    for colour, size in sizes.items():
        found += [tower(colour, height) for height in (size if isinstance(size, list) else [size])]
    return found


WOLFGANG = heights(brown=3, green=3, red=3, black=2, white=4)
PHILIPP = heights(brown=2, red=[3, 3], black=5, white=3)
TINA = heights(brown=6, green=4, black=5, white=3)


def test_the_rulebooks_example():
    rows = [
        (0, (2, 3, 4, 0, 12), 0, 9),
        (1, (0, 0, 8, 8, 3), 2, 9),
        (2, (4, 6, 0, 8, 3), 10, 0),
    ]
    assert [row[:4] for row in final(WOLFGANG, PHILIPP, TINA)] == rows


def test_the_rulebooks_example_at_the_end_of_a_match():
    """Through the engine: the year's evaluation comes first, then the final one."""
    table = Table(seats=3)
    table.year(4)
    for seat, towers in enumerate((WOLFGANG, PHILIPP, TINA)):
        table.hand(seat, "blue" if seat == 0 else "")
        table.towers(seat, *towers)
        table.money(seat, 0)
    events = table.send("bank 6", "blue")
    assert [row.prestige for row in told(events, YearEvaluated)] == [5 + 1, 5, 4]
    assert [row.prestige for row in told(events, FinalEvaluated)] == [30, 30, 31]
    assert outcome(table.state) == ((36, 35, 35), (0,))


def test_r11_players_without_a_tower_take_no_place_for_most_towers():
    assert [row.most_towers for row in final(heights(red=2), [], [])] == [12, 0, 0]
    assert [row.most_towers for row in final([], [])] == [0, 0]


def test_r12_only_places_that_exist_are_paid():
    first, second = final(heights(white=2), [])
    assert first[:4] == (0, (0, 0, 0, 0, 12), 8, 12)
    assert second.prestige == 0


def test_r14_prestige_above_a_hundred_is_counted_on():
    table = Table()
    table.state.prestige[0] = 99
    table.stock(0, "red base", "red turret")
    table.send("circle 2", "blue")
    assert table.prestige(0) == 101


def test_r20_the_lit_windows_of_all_towers_break_the_tie_for_most_towers():
    two_in_one = tower("red", 4, plain_windows=2, lit_plain=2)
    one_in_each = [tower(c, 3, plain_windows=1, lit_plain=1) for c in ("green", "red", "black")]
    rows = final([two_in_one, tower("green"), tower("black")], one_in_each)
    assert [row.most_towers for row in rows] == [6, 12]


def test_players_with_equal_totals_all_win():
    table = Table(seats=3)
    table.year(4)
    for seat in range(3):
        table.hand(seat, "blue" if seat == 0 else "")
        table.money(seat, 0)
    table.state.prestige[:] = [0, 1, 0]
    table.send("bank 6", "blue")
    # Seat 0 holds the patronage.
    assert outcome(table.state) == ((1, 1, 0), (0, 1))


# Against the clauses written down a second time, over random towers.


def naive_award(first, second, keys):
    """Points by entry for entries with these sort keys."""
    order = sorted(set(keys), reverse=True)
    points = [Fraction(0)] * len(keys)
    if not order:
        return points
    top = [i for i, key in enumerate(keys) if key == order[0]]
    if len(top) > 1:
        shares = [(top, first + second)]
    else:
        shares = [(top, first)]
        if len(order) > 1:
            shares.append(([i for i, key in enumerate(keys) if key == order[1]], second))
    for entries, amount in shares:
        for i in entries:
            points[i] += -(Fraction(-amount) / len(entries)).__floor__()
    return points


def naive_final(seats, money):
    totals = [asari // 10 for asari in money]
    rows = [(seat, t) for seat, own in enumerate(seats) for t in own]
    awards = {1: (4, 2), 2: (6, 3), 3: (8, 4), 4: (10, 5), 5: (12, 6)}
    lists = [([r for r in rows if r[1].colour == colour], awards[colour]) for colour in awards]
    lists.append((rows, (8, 4)))
    for entries, award in lists:
        keys = [(t.height, t.lit_plain + t.lit_gold) for _, t in entries]
        for (seat, _), points in zip(entries, naive_award(*award, keys), strict=True):
            totals[seat] += points
    builders = [seat for seat, own in enumerate(seats) if own]
    keys = [(len(seats[seat]), sum(t.lit for t in seats[seat])) for seat in builders]
    for seat, points in zip(builders, naive_award(12, 6, keys), strict=True):
        totals[seat] += points
    return totals


def random_tower(dice):
    windows = dice.randrange(3)
    gold = dice.randrange(2)
    return Tower(
        Colour(dice.randint(1, 5)),
        bool(dice.randrange(2)),
        bool(dice.randrange(2)),
        dice.randrange(3),
        dice.randrange(2),
        windows,
        gold,
        dice.randint(0, windows),
        dice.randint(0, gold),
    )


@settings(max_examples=300)
@given(seed=st.integers(0, 2**32), seats=st.integers(2, 4))
def test_final_evaluations_follow_the_clauses(seed, seats):
    dice = random.Random(seed)
    towers = [[random_tower(dice) for _ in range(dice.randrange(6))] for _ in range(seats)]
    money = [dice.randrange(60) for _ in range(seats)]
    rows = final_evaluation(EDITION, towers, money)
    assert [row.prestige for row in rows] == naive_final(towers, money)
