"""What a seat knows about buyers after looking into the buyer pile.

A gift card lets a seat look through the pile and choose a buyer. After that look, the seat knows
which buyers the other seats hold or have laid face down, as one group. It also knows which buyers
the others can still draw this year.
"""

from __future__ import annotations

import random
from typing import Final, NamedTuple

from asara_game.rules import Rules
from asara_game.view import PrivateView
from asara_game.vocabulary import Space

from .shuffling import shuffle

DISPATCHED, DRAWN, LOOKED = range(3)
_TRIES: Final = 2000


class BuyerStep(NamedTuple):
    """One event since the seat's first look this year.

    `seat` is another seat; if the event is a look, it is the seat itself.
    """

    kind: int
    seat: int
    colour: int = 0
    """Colour of a face-up buyer; 0 for face-down buyers."""
    number: int = 0
    """Number of buyers."""
    pile: tuple[int, ...] = ()
    """If the event is a look: number of buyers in the pile by colour, from index 1."""
    own: tuple[int, ...] = ()
    """If the event is a look: all buyers the seat itself has had so far this year, by colour."""


class ArrangedBuyers(NamedTuple):
    """A possible arrangement of all buyers whose colours the seat cannot see."""

    face_down: list[tuple[int, Space, list[int]]]
    """Seat, space and colours, for the dispatches of `BuyerHistory.face_down`."""
    hands: list[list[int]]
    """Colours by seat; empty for the seat itself."""
    pile: list[int]
    """Colours in the pile, in random order."""


class BuyerHistory:
    """What the seat knows about this year's buyers.

    - `hand_sizes`: number of buyers by seat
    - `face_down`: dispatches of other seats' face-down buyers, as seat, space and number of buyers
    - `steps`: the seat's first look into the pile this year, and everything since then
    """

    __slots__ = ("_before", "_rules", "_seat", "_shown", "face_down", "hand_sizes", "steps")

    def __init__(self, rules: Rules, seat: int) -> None:
        self._rules = rules
        self._seat = seat
        self.hand_sizes = [0] * rules.seats
        self.face_down: list[tuple[int, Space, int]] = []
        self.steps: list[BuyerStep] = []
        # At the first look of the year: number of entries of `face_down`, hand sizes, and by
        # colour the buyers that other seats had shown.
        self._before: tuple[int, list[int], list[int]] = (0, [], [])
        self._shown = [[0] * 6 for _ in range(rules.seats)]

    def start_year(self, hand_size: int) -> None:
        """Record that all buyers were shuffled and dealt."""
        seats = self._rules.seats
        self.hand_sizes = [hand_size] * seats
        self.face_down = []
        self.steps = []
        self._shown = [[0] * 6 for _ in range(seats)]

    def dispatched(self, seat: int, space: Space, colour: int, count: int) -> None:
        """Record that a seat laid buyers; `colour` is 0 for face-down buyers."""
        self.hand_sizes[seat] -= count
        if colour:
            self._shown[seat][colour] += 1
        elif seat != self._seat:
            self.face_down.append((seat, space, count))
        if self.steps and seat != self._seat:
            self.steps.append(BuyerStep(DISPATCHED, seat, colour, count))

    def drawn(self, seat: int, count: int) -> None:
        """Record that a seat drew buyers from the pile, or chose one."""
        self.hand_sizes[seat] += count
        if self.steps and seat != self._seat:
            self.steps.append(BuyerStep(DRAWN, seat, 0, count))

    def look(self, own: PrivateView) -> None:
        """Record that the seat looks through the pile, before it chooses."""
        if not self.steps:
            shown = [sum(counts) for counts in zip(*self._shown, strict=True)]
            for colour in range(6):
                shown[colour] -= self._shown[self._seat][colour]
            # The buyer to be chosen counts as drawn already, but is not in the hand yet.
            self._before = (len(self.face_down), self.hand_sizes[:], shown)
        pile = [0] * 6
        for buyer in own.searched_buyers:
            pile[buyer] += 1
        step = BuyerStep(LOOKED, self._seat, 0, 0, tuple(pile), tuple(self.own_buyers(own)))
        if not self.steps or self.steps[-1] != step:
            self.steps.append(step)

    def own_buyers(self, own: PrivateView) -> list[int]:
        """Count the seat's own buyers this year by colour, from index 1, wherever they are now."""
        counts = self._shown[self._seat][:]
        for colour, count in enumerate(own.hand, 1):
            counts[colour] += count
        for _, buyers in own.face_down:
            for buyer in buyers:
                counts[buyer] += 1
        return counts

    def arrange(self, own: PrivateView, rng: random.Random) -> ArrangedBuyers | None:
        """Return a random arrangement of the hidden buyers that fits all of this year's looks.

        Return None if the seat has not looked. The events since the first look are replayed, with
        random choices for the other seats, until they fit. Arrangements are not equally likely.
        """
        if not self.steps:
            return None
        now = self.own_buyers(own)
        for _ in range(_TRIES):
            found = self._try(now, rng)
            if found is not None:
                return found
        raise ValueError("the view does not follow from the history of the buyers")

    def _try(self, now: list[int], rng: random.Random) -> ArrangedBuyers | None:
        laid_before, sizes, shown = self._before
        first = self.steps[0]
        # The pools from which hidden buyers came, by colour: those outside the pile at the first
        # look, then the pile after each look. Hands and dispatches have the numbers of their
        # buyers' pools. Only a buyer that is shown gets a colour at once, the others at the end.
        outside = [
            total - in_pile - own - seen
            for total, in_pile, own, seen in zip(
                (0, *self._rules.edition.buyers), first.pile, first.own, shown, strict=True
            )
        ]
        if min(outside) < 0:
            return None
        pools = [outside]
        hands = [[0] * size for size in sizes]
        hands[self._seat] = []
        face_down = [[0] * count for _, _, count in self.face_down[:laid_before]]
        for number, step in enumerate(self.steps):
            hand = hands[step.seat]
            if step.kind == LOOKED:
                pools.append(self._source(number, now))
                if min(pools[-1]) < 0:
                    return None
            elif step.kind == DRAWN:
                hand += [len(pools) - 1] * step.number
            elif step.colour:
                if not _show(hand, step.colour, pools, rng):
                    return None
            else:
                shuffle(hand, rng)
                face_down.append([hand.pop() for _ in range(step.number)])
        rest: list[list[int]] = []
        for pool in pools:
            colours = [colour for colour, count in enumerate(pool) for _ in range(count)]
            shuffle(colours, rng)
            rest.append(colours)
        for buyers in (*face_down, *hands):
            for place, came_from in enumerate(buyers):
                if not rest[came_from]:
                    return None
                buyers[place] = rest[came_from].pop()
        pile = rest.pop()
        if any(rest):
            return None
        laid = zip(self.face_down, face_down, strict=True)
        return ArrangedBuyers(
            [(seat, space, colours) for (seat, space, _), colours in laid], hands, pile
        )

    def _source(self, number: int, now: list[int]) -> list[int]:
        """Return the buyers others can have drawn between this look and the next one, by colour.

        After the last look, the buyers that nobody has drawn are the pile.
        """
        step = self.steps[number]
        later = next((s for s in self.steps[number + 1 :] if s.kind == LOOKED), None)
        after = now if later is None else later.own
        found = [0] * 6
        for colour in range(1, 6):
            count = step.pile[colour] - (after[colour] - step.own[colour])
            if later is not None:
                count -= later.pile[colour]
            found[colour] = count
        return found


def _show(hand: list[int], colour: int, pools: list[list[int]], rng: random.Random) -> bool:
    """Reveal a buyer of this colour in a hand, and remove it from its pool.

    A hand lists the pool number of each unknown buyer. The buyer's pool is chosen at random,
    weighted by its share of this colour. Return False if no pool of the hand has the colour.
    """
    weights = [
        hand.count(number) * pool[colour] / max(1, sum(pool)) for number, pool in enumerate(pools)
    ]
    total = sum(weights)
    if not total:
        return False
    chosen = rng.random() * total
    number = 0
    while chosen >= weights[number] and number < len(weights) - 1:
        chosen -= weights[number]
        number += 1
    while not weights[number]:  # rounding
        number -= 1
    hand.remove(number)
    pools[number][colour] -= 1
    return True
