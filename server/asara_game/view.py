"""What a seat may know, and the other worlds it cannot tell from the true one.

`view` is the only function that takes a state apart for somebody's eyes. Every part of a view is an
immutable tuple or int, so that whoever sends views can remember the bytes of their parts.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple

from .actions import Action
from .deal import RandomShuffler
from .engine import decision
from .moves import options
from .rules import AREAS, Rules
from .state import ONE, Decision, Dispatched, State, blank
from .vocabulary import (
    SECTION_TYPES,
    Area,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftCard,
    Section,
    Space,
    Tower,
)

__all__ = ["PrivateView", "PublicView", "SeatView", "View", "determinize", "public_view", "view"]


class SeatView(NamedTuple):
    """What everybody knows of a seat."""

    prestige: int
    hand_size: int
    #: Lit windows held and not yet built.
    lit_windows: int
    towers: tuple[Tower, ...]


class PublicView(NamedTuple):
    """What everybody at the table knows."""

    year: int
    turn_seat: int
    patronage_seat: int
    buyer_pile_size: int
    lit_stack_size: int
    gift_deck_size: int
    #: By section kind: ten counts, (colour-1)*2 + gold.
    displays: tuple[tuple[int, ...], ...]
    #: By section kind.
    pile_sizes: tuple[int, ...]
    #: By area number (0 is unused): 0 or the buyer colour to follow.
    area_colours: tuple[int, ...]
    #: By area number: what lies there, by space and time.
    dispatched: tuple[tuple[Dispatched, ...], ...]
    #: Chest spaces that hold cards; the oldest card first.
    chests: tuple[tuple[Space, tuple[GiftCard, ...]], ...]
    #: By seat.
    seats: tuple[SeatView, ...]


class PrivateView(NamedTuple):
    """What one seat alone knows."""

    seat: int
    asari: int
    #: Five counts by buyer colour.
    hand: tuple[int, ...]
    #: Unbuilt sections: forty counts, (kind-1)*10 + (colour-1)*2 + gold.
    sections: tuple[int, ...]
    #: Lit windows held: five counts by colour.
    lit_windows: tuple[int, ...]
    #: Own buyers that lie face down this year.
    face_down: tuple[tuple[Space, tuple[BuyerColour, ...]], ...]
    #: Lit windows in the stack whose place the seat knows: windows above it, colour (RULES R9).
    known_lit_windows: tuple[tuple[int, Colour], ...]
    #: The pile being searched, by colour, plain before gold.
    searched_sections: tuple[Section, ...]
    #: The buyer pile, while a gift card lets the seat choose.
    searched_buyers: tuple[BuyerColour, ...]
    #: Lit windows drawn (as drawn) or searched (by colour), while the seat chooses.
    searched_lit_windows: tuple[Colour, ...]


class View(NamedTuple):
    """All that a seat may know."""

    rules: Rules
    public: PublicView
    private: PrivateView
    #: What is asked: of this seat, or of anybody between turns. None within another seat's turn.
    decision: Decision | None
    #: What this seat may answer; () while another decides.
    legal: tuple[Action, ...]


_COLOURS: Final = tuple(Colour)
_BUYERS: Final = tuple(BuyerColour)
#: From a seat's stock (colour, kind, gold) to a view's order (kind, colour, gold), and back.
_STOCK_INDEX: Final = tuple(
    (section.colour - 1) * 8 + (section.kind - 1) * 2 + section.gold for section in SECTION_TYPES
)
_by_kind: Final = itemgetter(*_STOCK_INDEX)
_NONE_LIT: Final = (0, 0, 0, 0)
#: Makes a named tuple in a third of the time that calling its class takes.
_new: Final = tuple.__new__
_seat_view: Final = partial(_new, SeatView)


def public_view(state: State) -> PublicView:
    """What everybody knows now. Within a turn it shows what has been done of it so far."""
    display = tuple(state.display)
    bases, trunks, windows, turrets = state.piles
    chests: tuple[tuple[Space, tuple[GiftCard, ...]], ...] = ()
    if any(state.chests):
        held = zip(state.rules.chests, state.chests, strict=True)
        chests = tuple([(info.space, cards) for info, cards in held if cards])
    lit_windows: Sequence[int] = _NONE_LIT
    if any(state.lit):
        lit_windows = [sum(state.lit[at : at + 5]) for at in range(0, len(state.lit), 5)]
    rows = zip(state.prestige, state.hand_sizes, lit_windows, state.towers, strict=False)
    return _new(
        PublicView,
        (
            state.year,
            state.turn,
            state.patronage,
            len(state.buyer_pile),
            len(state.lit_stack),
            len(state.gift_deck),
            (display[:10], display[10:20], display[20:30], display[30:]),
            (len(bases), len(trunks), len(windows), len(turrets)),
            tuple(state.area_colours),
            tuple(state.dispatched),
            chests,
            tuple(map(_seat_view, rows)),
        ),
    )


def view(state: State, seat: int) -> View:
    """All that `seat` may know now."""
    deciding = state.seat == seat
    if deciding:
        asked: Decision | None = decision(state)
        sections, buyers, windows = _searched(state)
    else:
        asked = decision(state) if state.seat >= 0 and _between_turns(state) else None
        sections, buyers, windows = (), (), ()
    hand = state.hands[seat]
    face_down = state.face_down
    private = _new(
        PrivateView,
        (
            seat,
            state.money[seat],
            (hand & 63, hand >> 6 & 63, hand >> 12 & 63, hand >> 18 & 63, hand >> 24),
            _by_kind(state.stock[seat * 40 : seat * 40 + 40]),
            tuple(state.lit[seat * 5 : seat * 5 + 5]),
            tuple([(space, laid) for owner, space, laid in face_down if owner == seat])
            if face_down
            else (),
            _known_lit_windows(state.lit_stack, seat) if state.lit_stack else (),
            sections,
            buyers,
            windows,
        ),
    )
    legal = tuple(state.legal) if deciding else ()
    return _new(View, (state.rules, public_view(state), private, asked, legal))


def view_within_dispatch(before: View, state: State) -> View:
    """The view of a seat that has chosen a space and is asked which buyers it lays there.

    It sees what it saw when it was asked for the space, which is `before`; so this costs a fraction
    of `view`.
    """
    return _new(
        View, (state.rules, before.public, before.private, decision(state), tuple(state.legal))
    )


_Searched = tuple[tuple[Section, ...], tuple[BuyerColour, ...], tuple[Colour, ...]]
_NOTHING_SEARCHED: Final[_Searched] = ((), (), ())
_SEARCHING: Final = frozenset(
    {
        DecisionKind.PILE_SECTION,
        DecisionKind.GIFT_BUYER,
        DecisionKind.LIT_KEEP,
        DecisionKind.GIFT_LIT_WINDOW,
    }
)


def _searched(state: State) -> _Searched:
    """What the seat that decides looks through: sections, buyers, lit windows."""
    kind = state.kind
    if kind not in _SEARCHING:
        return _NOTHING_SEARCHED
    if kind == DecisionKind.PILE_SECTION:
        base = state.pile * 10
        pile = sorted(state.piles[state.pile])
        return tuple(SECTION_TYPES[base + section] for section in pile), (), ()
    if kind == DecisionKind.GIFT_BUYER:
        return (), tuple(_BUYERS[colour - 1] for colour in sorted(state.buyer_pile)), ()
    if kind == DecisionKind.LIT_KEEP:
        return (), (), tuple(_COLOURS[colour - 1] for colour in state.drawn)
    windows = sorted(window & 7 for window in state.lit_stack)
    return (), (), tuple(_COLOURS[colour - 1] for colour in windows)


def _between_turns(state: State) -> bool:
    return state.kind == DecisionKind.SPACE


def _known_lit_windows(stack: Sequence[int], seat: int) -> tuple[tuple[int, Colour], ...]:
    if not stack or (stack[0] < 8 and max(stack) < 8):
        return ()
    top = len(stack) - 1
    known = seat + 1
    return tuple(
        (top - index, _COLOURS[(stack[index] & 7) - 1])
        for index in range(top, -1, -1)
        if stack[index] >> 3 == known
    )


def determinize(seen: View, rng: random.Random) -> State:
    """A whole state that the seat of `seen` cannot tell from the true one by this view.

    Hidden things are dealt at random from what is left of the edition's components. The view must
    be of a seat that decides, or from between turns or after the end; ValueError otherwise. Later
    shuffles come from `rng`.
    """
    if seen.decision is None and not _over(seen):
        raise ValueError("the view is from within another seat's turn")
    state = blank(seen.rules, RandomShuffler(rng))
    _restore_public(state, seen)
    _restore_private(state, seen)
    _deal_sections(state, seen, rng)
    _deal_buyers(state, seen, rng)
    _deal_lit_windows(state, seen, rng)
    _deal_gifts(state, seen, rng)
    _deal_money(state, seen, rng)
    _resume_turn(state, seen)
    return state


def _over(seen: View) -> bool:
    sizes = (seat.hand_size for seat in seen.public.seats)
    return seen.public.year == seen.rules.edition.years and not any(sizes)


def _restore_public(state: State, seen: View) -> None:
    public = seen.public
    rules = seen.rules
    state.year = public.year
    state.turn = public.turn_seat
    state.patronage = public.patronage_seat
    state.display = [count for display in public.displays for count in display]
    for market, display in enumerate(public.displays):
        state.present[market] = sum(1 << i for i, count in enumerate(display) if count)
    state.area_colours = list(public.area_colours)
    state.dispatched = list(public.dispatched)
    spaces = {info.space: info for info in rules.spaces}
    for area in range(AREAS):
        if area == Area.COLOURED_BUILDING:
            continue
        for mark in public.dispatched[area]:
            state.free[area] &= ~spaces[mark.space].bit
    for space, cards in public.chests:
        info = spaces[space]
        state.chests[info.chest] = cards
        state.gifted[info.area] |= info.bit
    for seat, known in enumerate(public.seats):
        state.prestige[seat] = known.prestige
        state.hand_sizes[seat] = known.hand_size
        state.towers[seat] = known.towers
        state.numbers[seat] = -1
        for tower in known.towers:
            bare = tower.plain_windows + tower.gold_windows - tower.lit
            state.bare[seat * 5 + tower.colour - 1] += bare


def _restore_private(state: State, seen: View) -> None:
    own = seen.private
    seat = own.seat
    state.money[seat] = own.asari
    state.hands[seat] = sum(ONE[colour] * count for colour, count in enumerate(own.hand, 1))
    for index, count in zip(_STOCK_INDEX, own.sections, strict=True):
        state.stock[seat * 40 + index] = count
    state.lit[seat * 5 : seat * 5 + 5] = own.lit_windows
    state.face_down = [(seat, space, buyers) for space, buyers in own.face_down]


def _deal_sections(state: State, seen: View, rng: random.Random) -> None:
    """Piles get their number of what is left, the other seats' stocks the rest."""
    edition = seen.rules.edition
    searched = list(seen.private.searched_sections)
    others = [seat for seat in range(seen.rules.seats) if seat != seen.private.seat]
    built = _built(seen.public.seats)
    for market, rows in enumerate(edition.tiles):
        base = market * 10
        left = []
        for kind in range(10):
            count = rows[kind // 2][kind % 2] - seen.public.displays[market][kind]
            count -= built[base + kind] + seen.private.sections[base + kind]
            left += [kind] * count
        rng.shuffle(left)
        if searched and searched[0].kind - 1 == market:
            pile = [(section.colour - 1) * 2 + section.gold for section in searched]
            for kind in pile:
                left.remove(kind)
            rng.shuffle(pile)
        else:
            size = seen.public.pile_sizes[market]
            pile = left[:size]
            del left[:size]
        state.piles[market] = pile
        for kind in left:
            index = _STOCK_INDEX[base + kind]
            state.stock[rng.choice(others) * 40 + index] += 1


def _built(seats: Iterable[SeatView]) -> list[int]:
    """Sections in towers: forty counts, (kind-1)*10 + (colour-1)*2 + gold."""
    counts = [0] * 40
    trunk, window, turret = 10, 20, 30
    for seat in seats:
        for tower in seat.towers:
            at = (tower.colour - 1) * 2
            counts[at + tower.base_gold] += 1
            counts[trunk + at] += tower.plain_trunks
            counts[trunk + at + 1] += tower.gold_trunks
            counts[window + at] += tower.plain_windows
            counts[window + at + 1] += tower.gold_windows
            counts[turret + at + tower.turret_gold] += 1
    return counts


def _deal_buyers(state: State, seen: View, rng: random.Random) -> None:
    """Other hands, what they laid face down, and the pile."""
    own = seen.private
    left = dict(enumerate(seen.rules.edition.buyers, 1))
    for colour, count in enumerate(own.hand, 1):
        left[colour] -= count
    for _, buyers in own.face_down:
        for buyer in buyers:
            left[buyer] -= 1
    hidden: list[tuple[int, Space, int]] = []
    for area, marks in enumerate(seen.public.dispatched):
        for mark in marks:
            if mark.colour:
                left[mark.colour] -= 1
            elif mark.seat != own.seat:
                hidden.append((mark.seat, mark.space, 1 if area == Area.COLOURED_BUILDING else 2))
    pool: list[int]
    if own.searched_buyers:
        for buyer in own.searched_buyers:
            left[buyer] -= 1
    pool = [colour for colour, count in left.items() for _ in range(count)]
    rng.shuffle(pool)
    for seat, space, count in hidden:
        buyers = tuple(sorted(BuyerColour(pool.pop()) for _ in range(count)))
        state.face_down.append((seat, space, buyers))
    for seat in range(seen.rules.seats):
        if seat != own.seat:
            for _ in range(state.hand_sizes[seat]):
                state.hands[seat] += ONE[pool.pop()]
    state.buyer_pile = [int(buyer) for buyer in own.searched_buyers] or pool
    rng.shuffle(state.buyer_pile)


def _deal_lit_windows(state: State, seen: View, rng: random.Random) -> None:
    """The stack but for the places that the seat knows, and what others hold."""
    if not seen.rules.professional:
        return
    own = seen.private
    asked = seen.decision
    drawn = asked is not None and asked.kind == DecisionKind.LIT_KEEP
    left = dict(enumerate(seen.rules.edition.lit_windows, 1))
    for colour, count in enumerate(own.lit_windows, 1):
        left[colour] -= count
    for known in seen.public.seats:
        for tower in known.towers:
            left[tower.colour] -= tower.lit
    for colour in own.searched_lit_windows:
        left[colour] -= 1
    if drawn:
        state.drawn = tuple(int(colour) for colour in own.searched_lit_windows)
    searched = not drawn and own.searched_lit_windows
    stack = [0] * seen.public.lit_stack_size
    rest = [int(colour) for colour in own.searched_lit_windows] if searched else []
    for above, colour in own.known_lit_windows:
        stack[-1 - above] = colour | own.seat + 1 << 3
        if searched:
            rest.remove(colour)
        else:
            left[colour] -= 1
    pool = [colour for colour, count in left.items() for _ in range(count)]
    rng.shuffle(pool)
    rng.shuffle(rest)
    state.lit_stack = [window or (rest if searched else pool).pop() for window in stack]
    for seat, known in enumerate(seen.public.seats):
        if seat != own.seat:
            for _ in range(known.lit_windows):
                state.lit[seat * 5 + pool.pop() - 1] += 1


def _deal_gifts(state: State, seen: View, rng: random.Random) -> None:
    """The rest of the deck: cards that were never laid are not known, so any will do."""
    rules = seen.rules
    if not rules.gifts:
        return
    left = list(rules.gift_deck)
    lying = [card for _, cards in seen.public.chests for card in cards]
    if seen.decision is not None:
        lying += seen.decision.gifts
    for card in lying:
        left.remove(rules.gift_cards.index(card))
    rng.shuffle(left)
    state.gift_deck = left[: seen.public.gift_deck_size]


def _deal_money(state: State, seen: View, rng: random.Random) -> None:
    """Other purses: not told (RULES R15), so anything that the game could have paid."""
    for seat in range(seen.rules.seats):
        if seat != seen.private.seat:
            state.money[seat] = rng.randrange(41)


def _resume_turn(state: State, seen: View) -> None:
    asked = seen.decision
    if asked is None:
        state.seat = -1
        return
    state.seat = asked.seat
    state.kind = asked.kind
    spaces = {info.space: info for info in seen.rules.spaces}
    if asked.space is not None:
        state.space = spaces[asked.space]
    state.gift_queue = asked.gifts
    state.to_build = asked.sections_to_build
    state.steps = asked.build_steps
    state.keep = asked.lit_windows_to_keep
    if seen.private.searched_sections:
        state.pile = seen.private.searched_sections[0].kind - 1
    state.legal = options(state)
