"""Samples many worlds for one view; facts that follow from the view are computed only once."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Final

from asara_game.moves import options
from asara_game.state import ONE, State, known_lit_window, lit_index
from asara_game.view import View
from asara_game.vocabulary import Area, BuyerColour, DecisionKind, Space

from .determinize import built_sections, determinize, unseen_lit_windows
from .history import History
from .lit_history import HiddenLitWindows
from .possible import check_moment
from .restore import restore, resume_turn
from .shuffling import QuickShuffler, shuffle

__all__ = ["Worlds"]

_COLOURED: Final = int(Area.COLOURED_BUILDING)
_DRAWN: Final = (DecisionKind.LIT_KEEP, DecisionKind.LIT_RETURN)
_BUYERS: Final = (0, *BuyerColour)


class Worlds:
    """Complete states that a seat cannot tell from the true one, sampled one after the other.

    With a complete history, every state fits everything that the seat has seen in the match.
    Otherwise states fit the view alone (see `determinize`). Raise ValueError for a view from within
    another seat's turn, and for a view that contradicts the history.
    """

    __slots__ = (
        "_base",
        "_buyers",
        "_deck",
        "_face_down",
        "_hands",
        "_history",
        "_lit",
        "_lit_held",
        "_piles",
        "_seen",
        "_stack",
        "_stack_rest",
        "exact",
    )

    exact: bool
    """True if the history is complete."""

    def __init__(self, seen: View, history: History | None = None) -> None:
        check_moment(seen)
        self._seen = seen
        self._history = history
        self.exact = history is not None and history.complete
        self._base = restore(seen, QuickShuffler(random.Random(0)))
        self._piles: list[list[int]] = []
        self._deck: list[int] = []
        self._buyers: list[int] = []
        self._face_down: list[tuple[int, Space, int]] = []
        self._hands: list[tuple[int, int]] = []
        self._lit: list[int] = []
        self._lit_held: list[tuple[int, int]] = []
        self._stack: list[int] = []
        self._stack_rest: list[int] = []
        if history is not None and history.complete:
            _check(seen, history)
            history.look(seen)
            self._prepare(seen, history)

    def sample(self, rng: random.Random) -> State:
        """Sample another state; hidden parts and all later shuffles come from `rng`."""
        if not self.exact:
            return determinize(self._seen, rng)
        state = self._base.copy(QuickShuffler(rng))
        for market in range(4):
            pile = self._piles[market][:]
            shuffle(pile, rng)
            state.piles[market] = pile
        deck = self._deck[:]
        shuffle(deck, rng)
        state.gift_deck = deck
        self._deal_buyers(state, rng)
        if state.rules.professional:
            self._deal_lit_windows(state, rng)
        seen = self._seen
        if not seen.legal and state.seat >= 0:
            state.legal = options(state)
        return state

    # Preparation

    def _prepare(self, seen: View, history: History) -> None:
        state = self._base
        state.money = history.money[:]
        state.unbuilt = history.unbuilt[:]
        resume_turn(state, seen)
        state.legal = seen.legal
        self._deck = history.gift_deck[:]
        built = built_sections(seen.public.seats)
        for market, rows in enumerate(seen.rules.edition.tiles):
            display = seen.public.displays[market]
            pile: list[int] = []
            for number in range(10):
                index = market * 10 + number
                count = rows[number >> 1][number & 1] - built[index] - display[number]
                for seat in range(seen.rules.seats):
                    count -= history.unbuilt[seat * 40 + index]
                pile += [number] * count
            if len(pile) != seen.public.pile_sizes[market]:
                raise ValueError(_MISMATCH)
            self._piles.append(pile)
        self._prepare_buyers(seen)
        if seen.rules.professional:
            self._prepare_lit_windows(seen, history)

    def _prepare_buyers(self, seen: View) -> None:
        own = seen.private
        left = [0, *seen.rules.edition.buyers]
        for colour, count in enumerate(own.hand, 1):
            left[colour] -= count
        for _, buyers in own.face_down:
            for buyer in buyers:
                left[buyer] -= 1
        for buyer in own.searched_buyers:
            left[buyer] -= 1
        for area, marks in enumerate(seen.public.dispatched):
            for mark in marks:
                if mark.colour:
                    left[mark.colour] -= 1
                elif mark.seat != own.seat:
                    count = 1 if area == _COLOURED else 2
                    self._face_down.append((mark.seat, mark.space, count))
        self._buyers = [colour for colour, count in enumerate(left) for _ in range(count)]
        for seat, known in enumerate(seen.public.seats):
            if seat != own.seat:
                self._hands.append((seat, known.hand_size))

    def _prepare_lit_windows(self, seen: View, history: History) -> None:
        own, state = seen.private, self._base
        asked = seen.decision
        drawn = asked is not None and asked.kind in _DRAWN
        left = unseen_lit_windows(seen)
        if drawn:
            state.lit_drawn = tuple([int(colour) for colour in own.searched_lit_windows])
        owners = history.lit_windows.owners
        if asked is not None and asked.kind == DecisionKind.LIT_RETURN:
            owners = owners[len(state.lit_drawn) :]
        if len(owners) != seen.public.lit_stack_size:
            raise ValueError(_MISMATCH)
        self._stack = [known_lit_window(seat, 0) if seat >= 0 else 0 for seat in owners]
        searched = bool(own.searched_lit_windows) and not drawn
        rest = [int(colour) for colour in own.searched_lit_windows] if searched else []
        for above, colour in own.known_lit_windows:
            self._stack[-1 - above] = known_lit_window(own.seat, colour)
            if searched:
                rest.remove(colour)
            else:
                left[colour] -= 1
        self._stack_rest = rest
        self._lit = [colour for colour, count in enumerate(left) for _ in range(count)]
        for seat, known in enumerate(seen.public.seats):
            if seat != own.seat and known.lit_windows:
                self._lit_held.append((seat, known.lit_windows))

    # Dealing

    def _deal_buyers(self, state: State, rng: random.Random) -> None:
        own = self._seen.private
        history = self._history
        assert history is not None
        if history.buyers.steps:
            self._deal_buyers_after_a_look(state, history, rng)
            return
        pool = self._buyers[:]
        shuffle(pool, rng)
        for seat, space, count in self._face_down:
            state.face_down.append((seat, space, _laid([pool.pop() for _ in range(count)])))
        for seat, size in self._hands:
            hand = 0
            for _ in range(size):
                hand += ONE[pool.pop()]
            state.hands[seat] = hand
        if own.searched_buyers:
            pool = [int(buyer) for buyer in own.searched_buyers]
            shuffle(pool, rng)
        state.buyer_pile = pool

    def _deal_buyers_after_a_look(self, state: State, history: History, rng: random.Random) -> None:
        arranged = history.buyers.arrange(self._seen.private, rng)
        assert arranged is not None
        laid = zip(history.buyers.face_down, arranged.face_down, strict=True)
        for (seat, space, _), colours in laid:
            state.face_down.append((seat, space, _laid(colours)))
        for seat, _ in self._hands:
            hand = 0
            for colour in arranged.hands[seat]:
                hand += ONE[colour]
            state.hands[seat] = hand
        state.buyer_pile = arranged.pile

    def _deal_lit_windows(self, state: State, rng: random.Random) -> None:
        history = self._history
        assert history is not None
        if history.lit_windows.lost and history.lit_windows.sound:
            arranged = history.lit_windows.arrange(self._seen.private, rng)
            if arranged is not None:
                self._place_lit_windows(state, arranged)
                return
        pool = self._lit[:]
        shuffle(pool, rng)
        source = pool
        if self._stack_rest:
            source = self._stack_rest[:]
            shuffle(source, rng)
        stack = self._stack[:]
        for place in range(len(stack)):
            if not stack[place] & 7:
                stack[place] |= source.pop()
        state.lit_stack = stack
        for seat, count in self._lit_held:
            for _ in range(count):
                state.lit_held[lit_index(seat, pool.pop())] += 1

    def _place_lit_windows(self, state: State, arranged: HiddenLitWindows) -> None:
        places = zip(self._stack, arranged.stack, strict=True)
        state.lit_stack = [window & ~7 | colour for window, colour in places]
        for seat, _ in self._lit_held:
            for colour in arranged.held[seat]:
                state.lit_held[lit_index(seat, colour)] += 1


_MISMATCH: Final = "the view does not follow from the history of the match"


def _laid(colours: Iterable[int]) -> tuple[BuyerColour, ...]:
    return tuple(sorted([BuyerColour(colour) for colour in colours]))


def _check(seen: View, history: History) -> None:
    """Raise ValueError if the seat's own part of the view contradicts the events."""
    own = seen.private
    if (
        history.rules is not seen.rules
        or history.seat != own.seat
        or history.money[own.seat] != own.asari
        or tuple(history.unbuilt[own.seat * 40 : own.seat * 40 + 40]) != own.sections
        or len(history.gift_deck) != seen.public.gift_deck_size
        or _hand_sizes(history.buyers.hand_sizes, own.seat)
        != _hand_sizes([known.hand_size for known in seen.public.seats], own.seat)
    ):
        raise ValueError(_MISMATCH)


def _hand_sizes(sizes: list[int], own: int) -> list[int]:
    """Return the sizes of the other seats' hands."""
    return [size for seat, size in enumerate(sizes) if seat != own]
