"""The state of a match: everything, hidden or not.

All that changes is in flat lists of small ints and immutable tuples, so that a copy costs a
microsecond or two. Seats, areas and colours index these lists; see each field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from .actions import Action
from .deal import Shuffler
from .rules import AREAS, Rules, SpaceInfo
from .vocabulary import BuyerColour, DecisionKind, GiftCard, Space, Tower

__all__ = ["Decision", "Dispatched", "IllegalAction", "State"]

#: Bits that a hand gives each buyer colour.
HAND_BITS: Final = 6
#: By buyer colour: one buyer in a packed hand, and the mask of that colour. Index 0 is unused.
ONE: Final = (0, *(1 << HAND_BITS * i for i in range(5)))
MASK: Final = (0, *(63 << HAND_BITS * i for i in range(5)))

#: Which things are shuffled; each counts its shuffles, and the count is part of the label.
SHUFFLED: Final = ("base", "trunk", "window", "turret", "buyers", "lit-windows", "gifts")
BUYERS, LIT_WINDOWS, GIFTS = 4, 5, 6


class IllegalAction(ValueError):
    """The action is not in the legal list."""


class Dispatched(NamedTuple):
    """What lies on a space, as everybody sees it: colour 0 is face down."""

    space: Space
    seat: int
    colour: BuyerColour | int


class Decision(NamedTuple):
    """What is asked of whom, and how far the turn has come."""

    seat: int
    kind: DecisionKind
    #: Dispatched to or, after a wish, wished for; None in decision SPACE.
    space: Space | None = None
    sections_to_build: int = 0
    build_steps: tuple[Action, ...] = ()
    #: Cards that have still to take effect, the present one first.
    gifts: tuple[GiftCard, ...] = ()
    lit_windows_to_keep: int = 0


class State:
    """A match at a decision, or over. Made by `new_match`, changed by `apply` alone."""

    __slots__ = (
        "area_colours",
        "build_steps",
        "buildable_counts",
        "buyer_pile",
        "chests",
        "dispatched",
        "display_counts",
        "face_down",
        "free_spaces",
        "gift_deck",
        "gift_queue",
        "gift_spaces",
        "hand_sizes",
        "hands",
        "kind",
        "legal",
        "lit_drawn",
        "lit_held",
        "lit_stack",
        "lit_to_keep",
        "money",
        "patronage_seat",
        "piles",
        "prestige",
        "rules",
        "searched_market",
        "seat",
        "sections_to_build",
        "shuffle_counts",
        "shuffler",
        "space",
        "towers",
        "turn_seat",
        "types_on_display",
        "unbuilt",
        "unlit_windows",
        "year",
    )

    rules: Rules
    shuffler: Shuffler
    #: How often each thing of SHUFFLED was shuffled.
    shuffle_counts: list[int]
    year: int
    #: Seat whose turn it is.
    turn_seat: int
    #: Seat that decides (it is its turn), -1 when the match is over.
    seat: int
    kind: DecisionKind
    legal: Sequence[Action]
    patronage_seat: int

    # by seat
    prestige: list[int]
    money: list[int]
    #: Packed: HAND_BITS per buyer colour.
    hands: list[int]
    hand_sizes: list[int]
    #: seat*40 + (colour-1)*8 + (kind-1)*2 + gold
    unbuilt: list[int]
    #: Lit windows held, seat*5 + colour-1.
    lit_held: list[int]
    #: Standing windows without a lit window, seat*5 + colour-1.
    unlit_windows: list[int]
    towers: list[tuple[Tower, ...]]
    #: Numbers of sections the seat could build, see `build.reachable`; -1 where not worked out.
    buildable_counts: list[int]

    # the table
    #: Counts on display, (kind-1)*10 + (colour-1)*2 + gold.
    display_counts: list[int]
    #: By market: bits of the ten section types on display.
    types_on_display: list[int]
    #: By market: section types 0-9, top last.
    piles: list[list[int]]
    #: Buyer colours, top last.
    buyer_pile: list[int]
    #: Colour, plus 8 times (seat + 1) where that seat knows the place; top last.
    lit_stack: list[int]
    #: Indices of `rules.gift_cards`, top last.
    gift_deck: list[int]
    #: Cards by chest, oldest first.
    chests: list[tuple[GiftCard, ...]]
    #: By area: bits of the spaces with cards.
    gift_spaces: list[int]
    #: By area: bits of the free spaces.
    free_spaces: list[int]
    #: By area: 0 or the buyer colour to follow.
    area_colours: list[int]
    #: By area: what lies there, by space and time.
    dispatched: list[tuple[Dispatched, ...]]
    #: Every seat's face-down buyers this year: (seat, space, colours).
    face_down: list[tuple[int, Space, tuple[BuyerColour, ...]]]

    # the turn; every move clears what it leaves here, but for the space and the pile
    space: SpaceInfo
    gift_queue: tuple[GiftCard, ...]
    #: Market of the pile being searched.
    searched_market: int
    sections_to_build: int
    build_steps: tuple[Action, ...]
    #: Lit windows drawn, as drawn, and how many are kept.
    lit_drawn: tuple[int, ...]
    lit_to_keep: int

    def copy(self, shuffler: Shuffler | None = None) -> State:
        """An independent state; shares the shuffler unless given another."""
        new: State = State.__new__(State)
        new.rules = self.rules
        new.shuffler = shuffler or self.shuffler
        new.shuffle_counts = self.shuffle_counts[:]
        new.year = self.year
        new.turn_seat = self.turn_seat
        new.seat = self.seat
        new.kind = self.kind
        new.legal = self.legal
        new.patronage_seat = self.patronage_seat
        new.prestige = self.prestige[:]
        new.money = self.money[:]
        new.hands = self.hands[:]
        new.hand_sizes = self.hand_sizes[:]
        new.unbuilt = self.unbuilt[:]
        new.lit_held = self.lit_held[:]
        new.unlit_windows = self.unlit_windows[:]
        new.towers = self.towers[:]
        new.buildable_counts = self.buildable_counts[:]
        new.display_counts = self.display_counts[:]
        new.types_on_display = self.types_on_display[:]
        new.piles = [pile[:] for pile in self.piles]
        new.buyer_pile = self.buyer_pile[:]
        new.lit_stack = self.lit_stack[:]
        new.gift_deck = self.gift_deck[:]
        new.chests = self.chests[:]
        new.gift_spaces = self.gift_spaces[:]
        new.free_spaces = self.free_spaces[:]
        new.area_colours = self.area_colours[:]
        new.dispatched = self.dispatched[:]
        new.face_down = self.face_down[:]
        new.space = self.space
        new.gift_queue = self.gift_queue
        new.searched_market = self.searched_market
        new.sections_to_build = self.sections_to_build
        new.build_steps = self.build_steps
        new.lit_drawn = self.lit_drawn
        new.lit_to_keep = self.lit_to_keep
        return new

    def shuffle(self, thing: int, items: list[int]) -> None:
        """Shuffle a thing of SHUFFLED; from its sorted contents, so that no order leaks."""
        items.sort()
        count = self.shuffle_counts[thing]
        self.shuffle_counts[thing] = count + 1
        self.shuffler.shuffle(f"{SHUFFLED[thing]}/{count}", items)


def blank(rules: Rules, shuffler: Shuffler) -> State:
    """A state with an empty table, before the first year."""
    state: State = State.__new__(State)
    seats = rules.seats
    state.rules = rules
    state.shuffler = shuffler
    state.shuffle_counts = [0] * len(SHUFFLED)
    state.year = 0
    state.turn_seat = state.patronage_seat = 0
    state.seat = -1
    state.kind = DecisionKind.SPACE
    state.legal = ()
    state.prestige = [0] * seats
    state.money = [0] * seats
    state.hands = [0] * seats
    state.hand_sizes = [0] * seats
    state.unbuilt = [0] * (40 * seats)
    state.lit_held = [0] * (5 * seats)
    state.unlit_windows = [0] * (5 * seats)
    state.towers = [()] * seats
    state.buildable_counts = [1] * seats
    state.display_counts = [0] * 40
    state.types_on_display = [0] * 4
    state.piles = [[], [], [], []]
    state.buyer_pile = []
    state.lit_stack = []
    state.gift_deck = []
    state.chests = [()] * len(rules.chests)
    state.gift_spaces = [0] * AREAS
    state.free_spaces = list(rules.board)
    state.area_colours = [0] * AREAS
    state.dispatched = [()] * AREAS
    state.face_down = []
    state.space = rules.spaces[0]
    state.gift_queue = ()
    state.searched_market = 0
    state.sections_to_build = 0
    state.build_steps = ()
    state.lit_drawn = ()
    state.lit_to_keep = 0
    return state
