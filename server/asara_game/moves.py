"""What each action does: one handler per kind of decision.

A handler changes the state, appends the events that everybody sees, and leaves the next decision in
`state.kind` and `state.legal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, Final

from .actions import (
    Action,
    BuildCount,
    ChooseBuyer,
    ExtendTower,
    FoundTower,
    KeepLitWindows,
    LayBuyers,
    LightWindow,
    PayOffer,
    SearchPile,
)
from .build import build_steps
from .events import (
    BuildStarted,
    BuyersDispatched,
    BuyersRecruited,
    Event,
    FundsTaken,
    GeniePaid,
    GiftTaken,
    LitWindowsDrawn,
    LitWindowsKept,
    MoveDeclined,
    MoveLost,
    PatronageTaken,
    PileSearched,
    SectionTaken,
    TowerExtended,
    TowerFounded,
    WindowLit,
    WishMade,
)
from .rules import COUNTS, DECLINE, SEARCHES, SpaceInfo
from .state import BUYERS, HAND_BITS, LIT_WINDOWS, ONE, Dispatched, State
from .turns import end_turn, seat_numbers, spaces
from .vocabulary import (
    Area,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftKind,
    SectionKind,
    Tower,
)

#: The action is of the class that answers the handler's kind of decision.
Handler = Callable[[State, Any, list[Event]], None]

#: By colour; no colour has number 0.
_CHOICES: Final = tuple(ChooseBuyer(colour) for colour in (BuyerColour.BLUE, *BuyerColour))
_KEEPS: Final = tuple(KeepLitWindows((colour,)) for colour in (Colour.BROWN, *Colour))
#: Stands for the coloured building among the colours that an area can ask for.
_ANY_FACE_DOWN: Final = 7
# Looking up a member of an enum takes as long as calling a function; these stand on every path.
_BUYERS_KIND: Final = DecisionKind.BUYERS
_SECTION_KIND: Final = DecisionKind.SECTION
_CIRCLE, _COLOURED = int(Area.BUILDING_CIRCLE), int(Area.COLOURED_BUILDING)
_SPIES, _TENT = int(Area.HOUSE_OF_SPIES), int(Area.TENT)
_LIT_HOUSE = int(Area.HOUSE_OF_LIGHTED_WINDOWS)
#: Makes a named tuple in half the time that calling its class takes; all fields are given.
_new: Final = tuple.__new__
#: No wish may name these.
_NO_WISH: Final = (int(Area.CALIPHS_PATRONAGE), int(Area.HOUSE_OF_THE_BOTTLE_GENIE))
_lays_by_hand: dict[int, tuple[Action, ...]] = {}


# --- dispatching ---------------------------------------------------------------------------------


def _space(state: State, action: Action, events: list[Event]) -> None:
    state.space = state.rules.by_action[action]
    state.kind = _BUYERS_KIND
    state.legal = _lays(state)


def _lays(state: State) -> tuple[Action, ...]:
    area = state.space.area
    colour = _ANY_FACE_DOWN if area == _COLOURED else state.area_colours[area]
    key = state.hands[state.seat] << 3 | colour
    legal = _lays_by_hand.get(key)
    if legal is None:
        if len(_lays_by_hand) > 50_000:
            _lays_by_hand.clear()
        legal = _lays_by_hand[key] = tuple(_lay_options(key >> 3, colour))
    return legal


def _lay_options(hand: int, colour: int) -> Iterable[Action]:
    """One buyer of the colour (any, where the area has none), or two face down (RULES R1)."""
    counts = {c: hand >> HAND_BITS * (c - 1) & 63 for c in BuyerColour}
    held = [c for c in BuyerColour if counts[c]]
    if colour == _ANY_FACE_DOWN:
        return [LayBuyers((c,), True) for c in held]
    if not colour:
        return [LayBuyers((c,), False) for c in held]
    options: list[Action] = [LayBuyers((c,), False) for c in held if c == colour]
    pairs = [(a, b) for a in held for b in held if a < b or (a == b and counts[a] > 1)]
    options += (LayBuyers(pair, True) for pair in pairs)
    return options


def _buyers(state: State, action: LayBuyers, events: list[Event]) -> None:
    info = state.space
    seat = state.seat
    area = info.area
    buyers = action.buyers
    for buyer in buyers:
        state.hands[seat] -= ONE[buyer]
    count = len(buyers)
    state.hand_sizes[seat] -= count
    shown: BuyerColour | int = 0
    if action.face_down:
        state.face_down.append((seat, info.space, buyers))
    else:
        shown = state.area_colours[area] = buyers[0]
    laid = state.dispatched[area]
    space = info.space
    mark = _new(Dispatched, (space, seat, shown))
    laid = (*laid, mark)
    if area != _COLOURED:
        state.free_spaces[area] ^= info.bit
        if laid[0] is not mark and laid[-2] > mark:
            laid = tuple(sorted(laid))
    state.dispatched[area] = laid
    events.append(_new(BuyersDispatched, (seat, space, shown, count, 0, 0)))
    if info.chest >= 0 and state.chests[info.chest]:
        state.gift_queue = state.chests[info.chest]
        state.chests[info.chest] = ()
        state.gift_spaces[area] &= ~info.bit
        _next_gift(state, events)
    else:
        _MOVES[area](state, info, events, False)


# --- gift cards ----------------------------------------------------------------------------------


def _next_gift(state: State, events: list[Event]) -> None:
    """Let cards take effect in the order they were laid, up to the first that asks something."""
    seat = state.seat
    while state.gift_queue:
        card = state.gift_queue[0]
        kind = card.kind
        if kind == GiftKind.ASARI:
            state.money[seat] += card.asari
            events.append(GiftTaken(seat, card, True, card.asari))
        elif kind == GiftKind.PRESTIGE:
            state.prestige[seat] += card.prestige
            events.append(GiftTaken(seat, card, True, 0, card.prestige))
        else:
            asked = _GIFTS[kind]
            legal = _OPTIONS[asked](state)
            events.append(GiftTaken(seat, card, bool(legal)))
            if legal:
                state.kind = asked
                state.legal = legal
                return
        state.gift_queue = state.gift_queue[1:]
    info = state.space
    if can_move(state, info, False):
        _MOVES[info.area](state, info, events, False)
    else:
        events.append(MoveLost(seat))  # RULES R10
        end_turn(state, events)


_GIFTS: Final = {
    GiftKind.CHOOSE_BUYER: DecisionKind.GIFT_BUYER,
    GiftKind.BUY_SECTION: DecisionKind.GIFT_SECTION,
    GiftKind.BUY_LIT_WINDOW: DecisionKind.GIFT_LIT_WINDOW,
}


# What the present card asks: nothing, where it can have no effect (RULES R10).


def _gift_buyers(state: State) -> list[Action]:
    return [_CHOICES[colour] for colour in sorted(set(state.buyer_pile))]


def _gift_sections(state: State) -> tuple[Action, ...]:
    market = state.gift_queue[0].section_kind - 1
    return state.rules.takes[market][_payable(state, state.types_on_display[market])]


def _gift_lit_windows(state: State) -> list[Action]:
    if state.money[state.seat] < state.gift_queue[0].asari:
        return []
    return [_KEEPS[colour] for colour in sorted({window & 7 for window in state.lit_stack})]


def _gift_done(state: State, events: list[Event]) -> None:
    state.gift_queue = state.gift_queue[1:]
    _next_gift(state, events)


def _chosen_buyer(state: State, action: ChooseBuyer, events: list[Event]) -> None:
    buyer = action.buyer
    state.buyer_pile.remove(buyer)
    state.shuffle(BUYERS, state.buyer_pile)
    state.hands[state.seat] += ONE[buyer]
    state.hand_sizes[state.seat] += 1
    _gift_done(state, events)


def _bought_section(state: State, action: Action, events: list[Event]) -> None:
    _take_displayed(state, action, events)
    _gift_done(state, events)


def _bought_lit_window(state: State, action: KeepLitWindows, events: list[Event]) -> None:
    colour = action.colours[0]
    seat = state.seat
    stack = [window & 7 for window in state.lit_stack]
    stack.remove(colour)
    state.shuffle(LIT_WINDOWS, stack)
    state.lit_stack = stack
    price = state.gift_queue[0].asari
    state.money[seat] -= price
    _keep_lit(state, (colour,))
    events.append(LitWindowsKept(seat, 1, -price))
    _gift_done(state, events)


# --- the areas' moves ----------------------------------------------------------------------------


def can_move(state: State, info: SpaceInfo, wished: bool) -> bool:
    """Whether the move of a space can be made: costs paid, something there (RULES R2, R7, R8)."""
    asari = state.money[state.seat]
    area = info.area
    if asari < info.cost:
        return False
    if area == _CIRCLE:
        return bool(_counts(state, info, wished))
    if area == _SPIES:
        return any(state.piles)
    if area == _TENT:
        return bool(state.buyer_pile)
    if area == _LIT_HOUSE:
        return bool(state.lit_stack) and asari >= state.rules.least_offer
    return True


def _counts(state: State, plot: SpaceInfo, wished: bool) -> list[int]:
    """Numbers of sections that the seat can build on a plot; a wish allows no other (RULES R13)."""
    numbers = seat_numbers(state, state.seat)
    allowed = [plot.cost] if wished else state.rules.plot_counts(plot, state.free_spaces[plot.area])
    return [count for count in allowed if numbers >> count & 1]


def _market(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.kind = _SECTION_KIND
    state.legal = _displayed(state)


def _displayed(state: State) -> tuple[Action, ...]:
    market = state.space.area - 1
    return state.rules.may_take[market][_payable(state, state.types_on_display[market])]


def _payable(state: State, present: int) -> int:
    """Those of the ten section types that the purse can pay."""
    rules = state.rules
    asari = state.money[state.seat]
    top = rules.top_price
    return present & rules.affordable[asari if asari < top else top]


def _circle(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.kind = DecisionKind.BUILD_COUNT
    state.legal = [COUNTS[count] for count in _counts(state, info, wished)]


def _dispatched_counts(state: State) -> list[Action]:
    """After a wish there is one count only, which is not asked."""
    return [COUNTS[count] for count in _counts(state, state.space, False)]


def _funds(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.money[state.seat] += info.income
    events.append(_new(FundsTaken, (state.seat, info.space, info.income, 0)))
    end_turn(state, events)


def _spies(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.kind = DecisionKind.PILE
    state.legal = _searches(state)


def _searches(state: State) -> list[Action]:
    return [search for search, pile in zip(SEARCHES, state.piles, strict=True) if pile]


def _patronage(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.patronage_seat = state.seat
    events.append(PatronageTaken(state.seat))
    end_turn(state, events)


def _tent(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    seat = state.seat
    state.money[seat] -= info.cost
    pile = state.buyer_pile
    count = min(state.rules.edition.tent_buyers, len(pile))
    for _ in range(count):
        state.hands[seat] += ONE[pile.pop()]
    state.hand_sizes[seat] += count
    events.append(BuyersRecruited(seat, count, -info.cost))
    end_turn(state, events)


def _lit_house(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    state.kind = DecisionKind.LIT_OFFER
    state.legal = _offers(state)


def _offers(state: State) -> list[Action]:
    asari = state.money[state.seat]
    offers = state.rules.edition.lit_offers
    return [PayOffer(offer.asari) for offer in offers if offer.asari <= asari]


def _genie(state: State, info: SpaceInfo, events: list[Event], wished: bool) -> None:
    seat = state.seat
    state.money[seat] -= info.cost
    events.append(GeniePaid(seat, -info.cost))
    state.kind = DecisionKind.WISH
    state.legal = _wishes(state)


def _wishes(state: State) -> list[Action]:
    legal: list[Action] = []
    for other in state.rules.spaces:
        if other.area in _NO_WISH:
            continue
        if other.position and (other.area <= 4 or other.area == _LIT_HOUSE):
            continue  # without a buyer or a gift, these spaces differ in nothing
        if can_move(state, other, True):
            legal.append(other.wish)
    legal.append(DECLINE)
    return legal


def _wished(state: State, action: Action, events: list[Event]) -> None:
    if action is DECLINE:
        events.append(MoveDeclined(state.seat))
        end_turn(state, events)
        return
    info = state.space = state.rules.by_action[action]
    events.append(WishMade(state.seat, info.space))
    _MOVES[info.area](state, info, events, True)


_MOVES: Final[tuple[Callable[[State, SpaceInfo, list[Event], bool], None], ...]] = (
    _market,  # no area has number 0
    _market,
    _market,
    _market,
    _market,
    _circle,
    _funds,
    _funds,
    _spies,
    _patronage,
    _tent,
    _lit_house,
    _genie,
)


# --- buying --------------------------------------------------------------------------------------


def _take_displayed(state: State, action: Action, events: list[Event]) -> None:
    info = state.rules.by_section[action]
    seat = state.seat
    display = state.display_counts
    display[info.index] -= 1
    if not display[info.index]:
        state.types_on_display[info.market] ^= info.bit
    state.money[seat] -= info.price
    state.unbuilt[seat * 40 + info.stock] += 1
    state.buildable_counts[seat] = -1
    events.append(_new(SectionTaken, (seat, info.section, False, -info.price, 0)))


def _section(state: State, action: Action, events: list[Event]) -> None:
    if action is DECLINE:
        events.append(MoveDeclined(state.seat))
    else:
        _take_displayed(state, action, events)
    end_turn(state, events)


def _search(state: State, action: SearchPile, events: list[Event]) -> None:
    cost = state.space.cost
    seat = state.seat
    kind = action.kind
    state.money[seat] -= cost
    events.append(PileSearched(seat, kind, -cost))
    state.searched_market = kind - 1
    state.kind = DecisionKind.PILE_SECTION
    state.legal = _searched(state)


def _searched(state: State) -> tuple[Action, ...]:
    present = 0
    for section in state.piles[state.searched_market]:
        present |= 1 << section
    return state.rules.may_take[state.searched_market][_payable(state, present)]


def _pile_section(state: State, action: Action, events: list[Event]) -> None:
    seat = state.seat
    pile = state.piles[state.searched_market]
    if action is DECLINE:
        events.append(MoveDeclined(seat))
    else:
        info = state.rules.by_section[action]
        pile.remove(info.index % 10)
        state.money[seat] -= info.price
        state.unbuilt[seat * 40 + info.stock] += 1
        state.buildable_counts[seat] = -1
        events.append(SectionTaken(seat, info.section, True, -info.price))
    state.shuffle(state.searched_market, pile)
    end_turn(state, events)


def _offer(state: State, action: PayOffer, events: list[Event]) -> None:
    asari = action.asari
    seat = state.seat
    offer = next(offer for offer in state.rules.edition.lit_offers if offer.asari == asari)
    state.money[seat] -= asari
    stack = state.lit_stack
    count = min(offer.drawn, len(stack))  # RULES R7, R17
    drawn = tuple(stack.pop() & 7 for _ in range(count))
    state.lit_drawn = drawn
    state.lit_to_keep = min(offer.kept, count)
    events.append(LitWindowsDrawn(seat, count, -asari))
    state.kind = DecisionKind.LIT_KEEP
    state.legal = _kept(state)


def _kept(state: State) -> list[Action]:
    chosen = sorted(set(combinations(sorted(state.lit_drawn), state.lit_to_keep)))
    return [KeepLitWindows(tuple(Colour(c) for c in colours)) for colours in chosen]


def _keep(state: State, action: KeepLitWindows, events: list[Event]) -> None:
    colours = action.colours
    seat = state.seat
    rest = list(state.lit_drawn)
    for colour in colours:
        rest.remove(colour)
    known = seat + 1 << 3
    # RULES R9: the first drawn goes under the stack first, and will come up first.
    state.lit_stack[:0] = [known | colour for colour in reversed(rest)]
    _keep_lit(state, colours)
    state.lit_drawn = ()
    state.lit_to_keep = 0
    events.append(LitWindowsKept(seat, len(colours)))
    end_turn(state, events)


def _keep_lit(state: State, colours: Iterable[Colour]) -> None:
    seat = state.seat
    for colour in colours:
        state.lit_held[seat * 5 + colour - 1] += 1
    state.buildable_counts[seat] = -1


# --- building ------------------------------------------------------------------------------------


def _build_count(state: State, action: BuildCount, events: list[Event]) -> None:
    info = state.space
    seat = state.seat
    state.money[seat] -= info.cost
    state.sections_to_build = count = action.count
    events.append(BuildStarted(seat, count, -info.cost))
    _ask_step(state, events)


def _ask_step(state: State, events: list[Event]) -> None:
    if not state.sections_to_build:
        state.buildable_counts[state.seat] = -1
        state.build_steps = ()
        end_turn(state, events)
        return
    state.kind = DecisionKind.BUILD
    state.legal = _steps(state)


def _steps(state: State) -> list[Action]:
    seat = state.seat
    return build_steps(
        state.unbuilt[seat * 40 : seat * 40 + 40],
        state.lit_held[seat * 5 : seat * 5 + 5],
        state.towers[seat],
        state.build_steps,
        state.sections_to_build,
    )


def _build(state: State, action: Action, events: list[Event]) -> None:
    seat = state.seat
    towers = state.towers[seat]
    sections = 1
    if type(action) is FoundTower:
        at = seat * 40 + (action.colour - 1) * 8
        state.unbuilt[at + action.base_gold] -= 1
        state.unbuilt[at + 6 + action.turret_gold] -= 1
        tower = Tower(action.colour, action.base_gold, action.turret_gold)
        state.towers[seat] = (*towers, tower)
        sections = 2
        events.append(TowerFounded(seat, len(towers) + 1, tower, 0, 2))
    elif type(action) is ExtendTower:
        section = action.section
        at = seat * 40 + (section.colour - 1) * 8
        state.unbuilt[at + (section.kind - 1) * 2 + section.gold] -= 1
        window = section.kind == SectionKind.WINDOW
        if window:
            state.unlit_windows[seat * 5 + section.colour - 1] += 1
        # Tower's fields 3 to 6 are plain and gold trunks, plain and gold windows.
        _change_tower(state, action.tower, 3 + 2 * window + section.gold)
        events.append(TowerExtended(seat, action.tower, section, 0, 1))
    else:
        assert isinstance(action, LightWindow)
        colour = towers[action.tower - 1].colour - 1
        state.lit_held[seat * 5 + colour] -= 1
        state.unlit_windows[seat * 5 + colour] -= 1
        _change_tower(state, action.tower, 7 + action.gold)
        events.append(WindowLit(seat, action.tower, action.gold, 0, 1))
    state.prestige[seat] += sections
    state.sections_to_build -= sections
    state.build_steps += (action,)
    _ask_step(state, events)


def _change_tower(state: State, number: int, field: int) -> None:
    """Add one to a field of a tower of the seat that decides."""
    towers = list(state.towers[state.seat])
    fields = list(towers[number - 1])
    fields[field] += 1
    towers[number - 1] = Tower._make(fields)
    state.towers[state.seat] = tuple(towers)


#: By kind of decision; no kind has number 0.
HANDLERS: Final[tuple[Handler, ...]] = (
    _space,
    _space,
    _buyers,
    _section,
    _build_count,
    _build,
    _search,
    _pile_section,
    _offer,
    _keep,
    _wished,
    _chosen_buyer,
    _bought_section,
    _bought_lit_window,
)

#: What may be answered, worked out from the state, by kind of decision.
_OPTIONS: Final[dict[DecisionKind, Callable[[State], Sequence[Action]]]] = {
    DecisionKind.SPACE: lambda state: spaces(state, state.seat),
    DecisionKind.BUYERS: _lays,
    DecisionKind.SECTION: _displayed,
    DecisionKind.BUILD_COUNT: _dispatched_counts,
    DecisionKind.BUILD: _steps,
    DecisionKind.PILE: _searches,
    DecisionKind.PILE_SECTION: _searched,
    DecisionKind.LIT_OFFER: _offers,
    DecisionKind.LIT_KEEP: _kept,
    DecisionKind.WISH: _wishes,
    DecisionKind.GIFT_BUYER: _gift_buyers,
    DecisionKind.GIFT_SECTION: _gift_sections,
    DecisionKind.GIFT_LIT_WINDOW: _gift_lit_windows,
}


def options(state: State) -> Sequence[Action]:
    """The legal list of the decision that is open, worked out anew."""
    return _OPTIONS[state.kind](state)
