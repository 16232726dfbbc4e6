"""Samples many worlds for one view; facts that follow from the view are computed only once."""

from __future__ import annotations

import random
from typing import Final

from asara_game.moves import options
from asara_game.state import State, unbuilt_index
from asara_game.view import View
from asara_game.vocabulary import DecisionKind

from .determinize import determinize
from .hidden import HiddenBuyers, HiddenLitWindows, place_buyers, unseen_sections
from .history import History
from .possible import check_moment
from .restore import restore, resume_turn
from .shuffling import QuickShuffler, shuffle


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
        "_history",
        "_lit_windows",
        "_piles",
        "_seen",
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
        if history is None or not history.complete:
            return
        _check(seen, history)
        history.look(seen)
        state = self._base
        state.money = history.money[:]
        state.unbuilt = history.unbuilt[:]
        resume_turn(state, seen)
        state.legal = seen.legal
        self._piles = _piles(seen, history)
        self._deck = history.gift_deck[:]
        self._buyers = HiddenBuyers(seen)
        if seen.rules.professional:
            self._lit_windows = HiddenLitWindows(seen, _owners(seen, history))

    def sample(self, rng: random.Random) -> State:
        """Sample another state; hidden parts and all later shuffles come from `rng`."""
        history, own = self._history, self._seen.private
        if history is None or not self.exact:
            return determinize(self._seen, rng)
        state = self._base.copy(QuickShuffler(rng))
        for market in range(4):
            pile = self._piles[market][:]
            shuffle(pile, rng)
            state.piles[market] = pile
        deck = self._deck[:]
        shuffle(deck, rng)
        state.gift_deck = deck
        arranged = history.buyers.arrange(own, rng)
        if arranged is None:
            self._buyers.deal(state, rng)
        else:
            hands = [(seat, hand) for seat, hand in enumerate(arranged.hands) if seat != own.seat]
            place_buyers(state, arranged.face_down, hands, arranged.pile)
        if state.rules.professional:
            lit = history.lit_windows
            placed = lit.arrange(own, rng) if lit.lost and lit.sound else None
            if placed is None:
                self._lit_windows.deal(state, rng)
            else:
                self._lit_windows.place(state, placed.stack, placed.held)
        seen = self._seen
        if not seen.legal and state.seat >= 0:
            state.legal = options(state)
        return state


def _piles(seen: View, history: History) -> list[list[int]]:
    """Return the contents of the piles by market."""
    unseen = unseen_sections(seen)
    for seat in range(seen.rules.seats):
        if seat != seen.private.seat:
            for index in range(len(unseen)):
                unseen[index] -= history.unbuilt[unbuilt_index(seat, index)]
    piles = []
    for market, size in enumerate(seen.public.pile_sizes):
        counts = unseen[market * 10 : market * 10 + 10]
        pile = [number for number, count in enumerate(counts) for _ in range(count)]
        if len(pile) != size:
            raise ValueError(_MISMATCH)
        piles.append(pile)
    return piles


def _owners(seen: View, history: History) -> list[int]:
    """Return the seats that know the places of the stack of lit windows."""
    owners = history.lit_windows.owners
    asked = seen.decision
    if asked is not None and asked.kind == DecisionKind.LIT_RETURN:
        owners = owners[len(seen.private.searched_lit_windows) :]
    if len(owners) != seen.public.lit_stack_size:
        raise ValueError(_MISMATCH)
    return owners


_MISMATCH: Final = "the view does not follow from the history of the match"


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
