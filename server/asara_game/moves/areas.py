"""The areas: whether a space's move is possible, and how each move begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from asara_game.actions import Action
from asara_game.events import (
    BuyersRecruited,
    Event,
    FundsTaken,
    GeniePaid,
    MoveDeclined,
    PatronageTaken,
    WishMade,
)
from asara_game.rules import BUILD_COUNTS, DECLINE, SEARCHES, SpaceInfo
from asara_game.state import ONE, State
from asara_game.turns import end_turn
from asara_game.vocabulary import Area, DecisionKind

from .building import plot_counts
from .buying import display_options, offer_options

# Looking up a member of an enum takes as long as calling a function; these stand on every path.
_SECTION: Final = DecisionKind.SECTION
_CIRCLE, _SPIES, _TENT = int(Area.BUILDING_CIRCLE), int(Area.HOUSE_OF_SPIES), int(Area.TENT)
_LIT_HOUSE = int(Area.HOUSE_OF_LIGHTED_WINDOWS)
_LAST_MARKET = int(Area.TURRET_MARKET)
_NO_WISH: Final = (int(Area.CALIPHS_PATRONAGE), int(Area.HOUSE_OF_THE_BOTTLE_GENIE))
"""Areas whose spaces nobody can wish for."""
_new: Final = tuple.__new__
"""Makes a named tuple twice as fast as calling its class; all fields must be given."""


def can_move(state: State, info: SpaceInfo, wished: bool) -> bool:
    """Return True if the seat can pay for a space's move and carry it out (rulings R2, R7, R8)."""
    asari = state.money[state.seat]
    area = info.area
    if asari < info.cost:
        return False
    if area == _CIRCLE:
        return bool(plot_counts(state, info, wished))
    if area == _SPIES:
        return any(state.piles)
    if area == _TENT:
        return bool(state.buyer_pile)
    if area == _LIT_HOUSE:
        return bool(state.lit_stack) and asari >= state.rules.lowest_offer
    return True


def _visit_market(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.kind = _SECTION
    state.legal = display_options(state)


def _visit_circle(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.kind = DecisionKind.BUILD_COUNT
    state.legal = [BUILD_COUNTS[count] for count in plot_counts(state, info, wished)]


def _receive_income(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.money[state.seat] += info.income
    events.append(_new(FundsTaken, (state.seat, info.space, info.income, 0)))
    end_turn(state, events)


def _visit_spies(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.kind = DecisionKind.PILE
    state.legal = pile_options(state)


def pile_options(state: State) -> list[Action]:
    return [search for search, pile in zip(SEARCHES, state.piles, strict=True) if pile]


def _take_patronage(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.patronage_seat = state.seat
    events.append(PatronageTaken(state.seat))
    end_turn(state, events)


def _visit_tent(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    seat = state.seat
    state.money[seat] -= info.cost
    pile = state.buyer_pile
    count = min(state.rules.edition.tent_buyers, len(pile))
    for _ in range(count):
        state.hands[seat] += ONE[pile.pop()]
    state.hand_sizes[seat] += count
    events.append(BuyersRecruited(seat, count, -info.cost))
    end_turn(state, events)


def _visit_lit_house(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.kind = DecisionKind.LIT_OFFER
    state.legal = offer_options(state)


def _visit_genie(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    seat = state.seat
    state.money[seat] -= info.cost
    events.append(GeniePaid(seat, -info.cost))
    state.kind = DecisionKind.WISH
    state.legal = wish_options(state)


MOVES: Final[tuple[Callable[[State, SpaceInfo, list[Event], bool], None], ...]] = (
    _visit_market,  # no area has number 0
    _visit_market,
    _visit_market,
    _visit_market,
    _visit_market,
    _visit_circle,
    _receive_income,
    _receive_income,
    _visit_spies,
    _take_patronage,
    _visit_tent,
    _visit_lit_house,
    _visit_genie,
)
"""The move of each area. Its last argument is True after a wish, and False after a dispatch."""


def wish_options(state: State) -> list[Action]:
    legal: list[Action] = []
    for info in state.rules.spaces:
        if info.area in _NO_WISH:
            continue
        if info.position and (info.area <= _LAST_MARKET or info.area == _LIT_HOUSE):
            continue  # without a buyer or a gift, these spaces differ in nothing
        if can_move(state, info, True):
            legal.append(info.wish)
    legal.append(DECLINE)
    return legal


def make_wish(state: State, action: Action, events: list[Event]) -> None:
    if action is DECLINE:
        events.append(MoveDeclined(state.seat))
        end_turn(state, events)
        return
    info = state.space = state.rules.spaces_by_action[action]
    events.append(WishMade(state.seat, info.space))
    MOVES[info.area](state, info, events, True)
