"""The colours that a seat has seen and lost sight of, against a full enumeration of all histories.

Few buyers, or few lit windows, pass between seats at random. Beside them, a filter keeps every
hidden arrangement that is still possible for seat 0, with its exact probability if all choices of
the other seats are equally likely.
"""

import random
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, permutations
from math import factorial
from typing import Any

import pytest

from asara_game.edition import load_edition
from asara_game.knowledge.buyer_history import BuyerHistory
from asara_game.knowledge.lit_history import LitHistory
from asara_game.rules import Rules, parse_rule_sets
from asara_game.view import PrivateView
from asara_game.vocabulary import Area, BuyerColour, Colour, DecisionKind, Space

WINDOWS = (2, 2, 1, 0, 0)
BUYERS = (4, 3, 2, 0, 0)
ME = 0


def small_rules(seats):
    edition = replace(load_edition(), lit_windows=WINDOWS, buyers=BUYERS, hand_sizes=(2, 2, 2))
    return Rules(edition, parse_rule_sets("pro+gifts"), seats)


def private(hand=(0,) * 5, lit=(0,) * 5, known=(), face_down=(), buyers=(), windows=()):
    return PrivateView(ME, 0, hand, (), lit, face_down, known, (), buyers, windows)


def normalized(weights):
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()}


def arrangements(items):
    """Distinct orders; all are equally likely."""
    return set(permutations(items))


def without(items, *some):
    left = list(items)
    for item in some:
        left.remove(item)
    return tuple(left)


class Hypotheses:
    """All that the hidden parts of a table can be for seat 0, with their probabilities."""

    possible: dict[Any, float]

    def weigh(self, share):
        """Multiply the probability of each hypothesis by its share, which may be 0."""
        found = {key: weight * share(*key) for key, weight in self.possible.items()}
        self.possible = normalized({key: weight for key, weight in found.items() if weight})

    def update(self, change):
        """Replace each hypothesis by the equally likely hypotheses that `change` yields."""
        after: dict[Any, float] = defaultdict(float)
        for hypothesis, weight in self.possible.items():
            found = list(change(*hypothesis))
            for new in found:
                after[new] += weight / len(found)
        self.possible = normalized(after)

    def check_that_likely_ones_come_up(self, arranged):
        found = Counter(arranged() for _ in range(400))
        assert {key for key, share in self.possible.items() if share > 0.03} <= set(found)


class LitTable(Hypotheses):
    """Lit windows at a table of three seats, and all that they can be for seat 0.

    A hypothesis is the stack, top last, and what each other seat holds, in rising order.
    """

    def __init__(self, seats, dice):
        self.dice = dice
        self.rules = small_rules(seats)
        self.history = LitHistory(self.rules, ME)
        windows = [colour for colour, count in enumerate(WINDOWS, 1) for _ in range(count)]
        self.possible = dict.fromkeys(
            ((stack, ((),) * seats) for stack in arrangements(windows)), 1.0
        )
        dice.shuffle(windows)
        self.stack = windows
        self.known = [False] * len(windows)
        self.held: list[list[int]] = [[] for _ in range(seats)]
        # The seat was not asked because all windows were alike; the history does not conclude that.
        self.alike = False

    def own(self, kind=DecisionKind.SPACE, windows=()):
        top = len(self.stack) - 1
        known = [(top - i, Colour(c)) for i, c in enumerate(self.stack) if self.known[i]]
        held = tuple(self.held[ME].count(colour) for colour in range(1, 6))
        seen = private(lit=held, known=tuple(reversed(known)), windows=tuple(map(Colour, windows)))
        self.history.look(seen, kind)
        return seen

    def turn(self):
        seat = self.dice.randrange(len(self.held))
        if seat == ME:
            self.own()
        if self.held[seat] and self.dice.random() < 0.3:
            self.build(seat)
        elif self.stack and self.dice.random() < 0.3:
            self.search(seat)
        elif self.stack:
            self.visit(seat)

    def build(self, seat):
        colour = self.dice.choice(self.held[seat])
        self.held[seat].remove(colour)
        self.history.built(seat, colour)

        def change(stack, held):
            yield stack, (*held[:seat], without(held[seat], colour), *held[seat + 1 :])

        if seat != ME:
            self.weigh(lambda _, held: held[seat].count(colour) / len(held[seat]))
            self.update(change)

    def visit(self, seat):
        offered, keeps = self.dice.choice(((2, 1), (3, 1), (3, 2)))
        count = min(offered, len(self.stack))
        keeps = min(keeps, count)
        drawn = [self.stack.pop() for _ in range(count)]
        del self.known[len(self.stack) :]
        self.history.drawn(seat, count)
        mixed = self.dice.sample(drawn, count)
        kept, run = mixed[:keeps], mixed[keeps:]
        if seat == ME:
            if len(set(combinations(sorted(drawn), keeps))) > 1:
                self.own(DecisionKind.LIT_KEEP, drawn)
            else:
                self.alike |= keeps < count
        self.held[seat] += kept
        self.history.kept(seat, keeps)
        for number, colour in enumerate(run):
            if seat == ME and len(set(run[number:])) > 1:
                self.own(DecisionKind.LIT_RETURN, run[number:])
            self.stack.insert(0, colour)
            self.known.insert(0, seat == ME)
        returned = tuple(reversed(run))

        def change(stack, held):
            taken, rest = stack[len(stack) - count :][::-1], stack[: len(stack) - count]
            if seat == ME:
                if list(taken) == drawn:
                    yield (*returned, *rest), held
                return
            for order in permutations(taken):
                own = tuple(sorted((*held[seat], *order[:keeps])))
                yield (*order[keeps:], *rest), (*held[:seat], own, *held[seat + 1 :])

        self.update(change)

    def search(self, seat):
        found = tuple(sorted(self.stack))
        colour = self.dice.choice(found)
        if seat == ME:
            if len(set(found)) > 1:
                self.own(DecisionKind.GIFT_LIT_WINDOW, found)
            else:
                self.alike |= len(found) > 1
        self.stack.remove(colour)
        self.dice.shuffle(self.stack)
        self.known = [False] * len(self.stack)
        self.held[seat].append(colour)
        self.history.kept(seat, 1)

        def change(stack, held):
            if seat == ME:
                if tuple(sorted(stack)) == found:
                    for rest in arrangements(without(stack, colour)):
                        yield rest, held
                return
            for place in range(len(stack)):
                rest = (*stack[:place], *stack[place + 1 :])
                own = tuple(sorted((*held[seat], stack[place])))
                # As many for each choice, so that all choices are equally likely.
                orders = arrangements(rest)
                times = factorial(len(rest)) // len(orders)
                for order in orders:
                    for _ in range(times):
                        yield order, (*held[:seat], own, *held[seat + 1 :])

        self.update(change)

    def arranged(self, own):
        arranged = self.history.arrange(own, self.dice)
        assert arranged is not None
        held = tuple(tuple(sorted(windows)) for windows in arranged.held)
        return tuple(arranged.stack), held

    def truth(self):
        held = [tuple(sorted(windows)) for windows in self.held]
        return tuple(self.stack), ((), *held[1:])


def test_no_arrangement_of_lit_windows_contradicts_what_was_seen():
    lost = 0
    for seed in range(150):
        table = LitTable(2 + seed % 2, random.Random(seed))
        for _ in range(9):
            table.turn()
            own = table.own()
            assert table.truth() in table.possible
            assert table.history.sound
            if table.alike:
                break
            if table.history.lost:
                lost += 1
                for _ in range(6):
                    assert table.arranged(own) in table.possible, seed
    assert lost > 400


def test_every_arrangement_of_lit_windows_that_fits_comes_up():
    tested = 0
    for seed in range(60):
        table = LitTable(2, random.Random(seed))
        for _ in range(5):
            table.turn()
        own = table.own()
        if table.history.lost and not table.alike:
            tested += 1
            table.check_that_likely_ones_come_up(lambda: table.arranged(own))  # noqa: B023
    assert tested > 15


class BuyerTable(Hypotheses):
    """Buyers of one year at a table of three seats, and all that they can be for seat 0.

    A hypothesis is each other seat's hand, the dispatches face down, and the pile, all in rising
    order.
    """

    def __init__(self, dice):
        self.dice = dice
        rules = small_rules(3)
        self.history = BuyerHistory(rules, ME)
        self.history.start_year(2)
        pile = [colour for colour, count in enumerate(BUYERS, 1) for _ in range(count)]
        dice.shuffle(pile)
        self.hands = [[pile.pop(), pile.pop()] for _ in range(3)]
        self.pile = pile
        self.face_down = []
        self.own_face_down = []
        self.possible: dict[Any, float] = defaultdict(float)
        hidden = [*self.hands[1], *self.hands[2], *pile]
        for order in arrangements(hidden):
            first, second = tuple(sorted(order[:2])), tuple(sorted(order[2:4]))
            self.possible[((), first, second), (), tuple(sorted(order[4:]))] += 1
        self.possible = normalized(self.possible)

    def own(self, buyers=()):
        hand = tuple(self.hands[ME].count(colour) for colour in range(1, 6))
        laid = tuple((Space(Area.BANK, 6), (BuyerColour(c),)) for c in self.own_face_down)
        seen = private(hand=hand, face_down=laid, buyers=tuple(map(BuyerColour, sorted(buyers))))
        if buyers:
            self.history.look(seen)
        return seen

    def turn(self):
        seat = self.dice.randrange(3)
        step = self.dice.choice((self.lay, self.lay_face_down, self.draw, self.choose))
        if step in (self.lay, self.lay_face_down):
            if self.hands[seat]:
                step(seat)
        elif self.pile:
            step(seat)

    def lay(self, seat):
        colour = self.dice.choice(self.hands[seat])
        self.hands[seat].remove(colour)
        self.history.dispatched(seat, Space(Area.BANK, 6), colour, 1)

        def change(hands, face_down, pile):
            hand = without(hands[seat], colour)
            yield (*hands[:seat], hand, *hands[seat + 1 :]), face_down, pile

        if seat != ME:
            self.weigh(lambda hands, *_: hands[seat].count(colour))
            self.update(change)

    def lay_face_down(self, seat):
        colour = self.dice.choice(self.hands[seat])
        self.hands[seat].remove(colour)
        self.history.dispatched(seat, Space(Area.COLOURED_BUILDING, 5), 0, 1)
        if seat == ME:
            self.own_face_down.append(colour)
            return
        self.face_down.append(colour)

        def change(hands, face_down, pile):
            for laid in hands[seat]:
                hand = without(hands[seat], laid)
                yield (*hands[:seat], hand, *hands[seat + 1 :]), (*face_down, laid), pile

        self.update(change)

    def draw(self, seat):
        colour = self.dice.choice(self.pile)
        if seat == ME:
            self.weigh(lambda _hands, _face_down, pile: pile.count(colour))
        self.gain(seat, colour)

    def choose(self, seat):
        seen = tuple(sorted(self.pile))
        colour = self.dice.choice(self.pile)
        if seat == ME and len(set(seen)) > 1:
            self.weigh(lambda _hands, _face_down, pile: pile == seen)
            self.own(self.pile)
        self.gain(seat, colour)

    def gain(self, seat, colour):
        self.pile.remove(colour)
        self.hands[seat].append(colour)
        self.history.drawn(seat, 1)

        def change(hands, face_down, pile):
            for drawn in pile:
                hand = tuple(sorted((*hands[seat], drawn)))
                if seat != ME:
                    after = (*hands[:seat], hand, *hands[seat + 1 :])
                    yield after, face_down, without(pile, drawn)
                elif drawn == colour:
                    yield hands, face_down, without(pile, drawn)

        self.update(change)

    def arranged(self):
        arranged = self.history.arrange(self.own(), self.dice)
        if arranged is None:
            return None
        hands = tuple(tuple(sorted(hand)) for hand in arranged.hands)
        face_down = tuple(colours[0] for _, _, colours in arranged.face_down)
        return hands, face_down, tuple(sorted(arranged.pile))


def test_no_arrangement_of_buyers_contradicts_what_was_seen():
    looked = 0
    for seed in range(250):
        table = BuyerTable(random.Random(seed))
        for _ in range(8):
            table.turn()
            truth = tuple(map(tuple, map(sorted, ([], *table.hands[1:]))))
            assert (truth, tuple(table.face_down), tuple(sorted(table.pile))) in table.possible
            found = table.arranged()
            if found is not None:
                looked += 1
                assert found in table.possible, seed
    assert looked > 200


def test_every_arrangement_of_buyers_that_fits_comes_up():
    tested = 0
    for seed in range(70):
        table = BuyerTable(random.Random(seed))
        for _ in range(6):
            table.turn()
        if table.arranged() is not None:
            tested += 1
            table.check_that_likely_ones_come_up(table.arranged)
    assert tested > 8


def test_a_view_that_contradicts_the_look_is_refused():
    table = BuyerTable(random.Random(1))
    table.choose(ME)
    table.history.drawn(ME, 1)
    table.hands[ME] += [1] * 20
    with pytest.raises(ValueError, match="does not follow from the history of the buyers"):
        table.arranged()
