"""What a view hides: the components whose colours the seat cannot see, and how they are dealt."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Final

from asara_game.state import State, known_lit_window, lit_index, pack_hand
from asara_game.view import View
from asara_game.vocabulary import Area, BuyerColour, SectionKind, Space, Tower

from .restore import DRAWN
from .shuffling import shuffle

_COLOURED: Final = int(Area.COLOURED_BUILDING)


def unseen_sections(seen: View) -> list[int]:
    """Return the counts of sections that the seat cannot see, in the order of SECTION_TYPES."""
    tiles = seen.rules.edition.tiles
    counts = [count for kind in tiles for colour in kind for count in colour]
    for index, own in enumerate(seen.private.sections):
        counts[index] -= own + seen.public.displays[index // 10][index % 10]
    for seat in seen.public.seats:
        for tower in seat.towers:
            for index, built in built_counts(tower):
                counts[index] -= built
    return counts


def built_counts(tower: Tower) -> list[tuple[int, int]]:
    """Return the sections of a tower: indices in SECTION_TYPES, and counts."""
    first = (tower.colour - 1) * 2
    trunk = first + 10 * (SectionKind.TRUNK - 1)
    window = first + 10 * (SectionKind.WINDOW - 1)
    return [
        (first + tower.base_gold, 1),
        (trunk, tower.plain_trunks),
        (trunk + 1, tower.gold_trunks),
        (window, tower.plain_windows),
        (window + 1, tower.gold_windows),
        (first + 10 * (SectionKind.TURRET - 1) + tower.turret_gold, 1),
    ]


class HiddenBuyers:
    """The buyers whose colours a view does not show."""

    __slots__ = ("_colours", "_face_down", "_hand_sizes", "_searched")

    def __init__(self, seen: View) -> None:
        own = seen.private
        left = [0, *seen.rules.edition.buyers]
        for colour, count in enumerate(own.hand, 1):
            left[colour] -= count
        for _, buyers in own.face_down:
            for buyer in buyers:
                left[buyer] -= 1
        for buyer in own.searched_buyers:
            left[buyer] -= 1
        self._face_down: list[tuple[int, Space, int]] = []
        for area, marks in enumerate(seen.public.dispatched):
            for mark in marks:
                if mark.colour:
                    left[mark.colour] -= 1
                elif mark.seat != own.seat:
                    self._face_down.append((mark.seat, mark.space, 1 if area == _COLOURED else 2))
        self._hand_sizes = [
            (seat, known.hand_size)
            for seat, known in enumerate(seen.public.seats)
            if seat != own.seat
        ]
        self._colours = [colour for colour, count in enumerate(left) for _ in range(count)]
        self._searched = list(map(int, own.searched_buyers))

    def deal(self, state: State, rng: random.Random) -> None:
        """Deal them to hands, dispatches and the pile; all orders are equally likely."""
        pool = self._colours[:]
        shuffle(pool, rng)
        laid = [
            (seat, space, [pool.pop() for _ in range(count)])
            for seat, space, count in self._face_down
        ]
        hands = [(seat, [pool.pop() for _ in range(size)]) for seat, size in self._hand_sizes]
        if self._searched:
            pool = self._searched[:]
            shuffle(pool, rng)
        place_buyers(state, laid, hands, pool)


def place_buyers(
    state: State,
    face_down: Iterable[tuple[int, Space, list[int]]],
    hands: Iterable[tuple[int, list[int]]],
    pile: list[int],
) -> None:
    """Put buyers of these colours into a state: face down as seat and space, hands by seat."""
    for seat, space, colours in face_down:
        buyers = tuple(sorted([BuyerColour(colour) for colour in colours]))
        state.face_down.append((seat, space, buyers))
    for seat, colours in hands:
        state.hands[seat] = pack_hand(colours)
    state.buyer_pile = pile


class HiddenLitWindows:
    """The lit windows whose colours a view does not show.

    `stack` is like `State.lit_stack`, but windows of unknown colour have colour 0. `searched` holds
    the colours of these windows if the seat is looking through the stack, in no particular order.
    """

    __slots__ = ("_colours", "_held", "searched", "stack")

    def __init__(self, seen: View, owners: Sequence[int] = ()) -> None:
        """`owners` are the seats that know the places of the stack, if they are known."""
        own = seen.private
        left = [0, *seen.rules.edition.lit_windows]
        for colour, count in enumerate(own.lit_windows, 1):
            left[colour] -= count
        for known in seen.public.seats:
            for tower in known.towers:
                left[tower.colour] -= tower.lit
        for window in own.searched_lit_windows:
            left[window] -= 1
        drawn = seen.decision is not None and seen.decision.kind in DRAWN
        self.searched = [] if drawn else list(map(int, own.searched_lit_windows))
        self.stack = [0] * seen.public.lit_stack_size
        if owners:
            self.stack = [known_lit_window(seat, 0) if seat >= 0 else 0 for seat in owners]
        for above, colour in own.known_lit_windows:
            self.stack[-1 - above] = known_lit_window(own.seat, colour)
            if self.searched:
                self.searched.remove(colour)
            else:
                left[colour] -= 1
        self._colours = [colour for colour, count in enumerate(left) for _ in range(count)]
        self._held = [
            (seat, known.lit_windows)
            for seat, known in enumerate(seen.public.seats)
            if seat != own.seat and known.lit_windows
        ]

    def deal(self, state: State, rng: random.Random) -> None:
        """Deal them to the stack and to the other seats; all orders are equally likely."""
        pool = self._colours[:]
        shuffle(pool, rng)
        source = pool
        if self.searched:
            source = self.searched[:]
            shuffle(source, rng)
        stack = self.stack[:]
        for place in range(len(stack)):
            if not stack[place] & 7:
                stack[place] |= source.pop()
        state.lit_stack = stack
        for seat, count in self._held:
            for _ in range(count):
                state.lit_held[lit_index(seat, pool.pop())] += 1

    def place(self, state: State, stack: Sequence[int], held: Sequence[Sequence[int]]) -> None:
        """Put windows of these colours into the stack (top last) and to the other seats."""
        places = zip(self.stack, stack, strict=True)
        state.lit_stack = [window & ~7 | colour for window, colour in places]
        for seat, _ in self._held:
            for colour in held[seat]:
                state.lit_held[lit_index(seat, colour)] += 1
