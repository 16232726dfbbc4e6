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
        "bare",
        "buyer_pile",
        "chests",
        "dispatched",
        "display",
        "drawn",
        "face_down",
        "free",
        "gift_deck",
        "gift_queue",
        "gifted",
        "hand_sizes",
        "hands",
        "keep",
        "kind",
        "legal",
        "lit",
        "lit_stack",
        "money",
        "numbers",
        "patronage",
        "pile",
        "piles",
        "present",
        "prestige",
        "rules",
        "seat",
        "shuffler",
        "shuffles",
        "space",
        "steps",
        "stock",
        "to_build",
        "towers",
        "turn",
        "year",
    )

    rules: Rules
    shuffler: Shuffler
    #: How often each thing of SHUFFLED was shuffled.
    shuffles: list[int]
    year: int
    #: Seat whose turn it is.
    turn: int
    #: Seat that decides (it is its turn), -1 when the match is over.
    seat: int
    kind: DecisionKind
    legal: Sequence[Action]
    patronage: int

    # by seat
    prestige: list[int]
    money: list[int]
    #: Packed: HAND_BITS per buyer colour.
    hands: list[int]
    hand_sizes: list[int]
    #: seat*40 + (colour-1)*8 + (kind-1)*2 + gold
    stock: list[int]
    #: Lit windows held, seat*5 + colour-1.
    lit: list[int]
    #: Standing windows without a lit window, seat*5 + colour-1.
    bare: list[int]
    towers: list[tuple[Tower, ...]]
    #: Numbers of sections the seat could build, see `build.reachable`; -1 where not worked out.
    numbers: list[int]

    # the table
    #: Counts on display, (kind-1)*10 + (colour-1)*2 + gold.
    display: list[int]
    #: By market: bits of the ten section types on display.
    present: list[int]
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
    gifted: list[int]
    #: By area: bits of the free spaces.
    free: list[int]
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
    pile: int
    to_build: int
    steps: tuple[Action, ...]
    #: Lit windows drawn, as drawn, and how many are kept.
    drawn: tuple[int, ...]
    keep: int

    def copy(self, shuffler: Shuffler | None = None) -> State:
        """An independent state; shares the shuffler unless given another."""
        new: State = State.__new__(State)
        new.rules = self.rules
        new.shuffler = shuffler or self.shuffler
        new.shuffles = self.shuffles[:]
        new.year = self.year
        new.turn = self.turn
        new.seat = self.seat
        new.kind = self.kind
        new.legal = self.legal
        new.patronage = self.patronage
        new.prestige = self.prestige[:]
        new.money = self.money[:]
        new.hands = self.hands[:]
        new.hand_sizes = self.hand_sizes[:]
        new.stock = self.stock[:]
        new.lit = self.lit[:]
        new.bare = self.bare[:]
        new.towers = self.towers[:]
        new.numbers = self.numbers[:]
        new.display = self.display[:]
        new.present = self.present[:]
        new.piles = [pile[:] for pile in self.piles]
        new.buyer_pile = self.buyer_pile[:]
        new.lit_stack = self.lit_stack[:]
        new.gift_deck = self.gift_deck[:]
        new.chests = self.chests[:]
        new.gifted = self.gifted[:]
        new.free = self.free[:]
        new.area_colours = self.area_colours[:]
        new.dispatched = self.dispatched[:]
        new.face_down = self.face_down[:]
        new.space = self.space
        new.gift_queue = self.gift_queue
        new.pile = self.pile
        new.to_build = self.to_build
        new.steps = self.steps
        new.drawn = self.drawn
        new.keep = self.keep
        return new

    def shuffle(self, thing: int, items: list[int]) -> None:
        """Shuffle a thing of SHUFFLED; from its sorted contents, so that no order leaks."""
        items.sort()
        count = self.shuffles[thing]
        self.shuffles[thing] = count + 1
        self.shuffler.shuffle(f"{SHUFFLED[thing]}/{count}", items)


def blank(rules: Rules, shuffler: Shuffler) -> State:
    """A state with an empty table, before the first year."""
    state: State = State.__new__(State)
    seats = rules.seats
    state.rules = rules
    state.shuffler = shuffler
    state.shuffles = [0] * len(SHUFFLED)
    state.year = 0
    state.turn = state.patronage = 0
    state.seat = -1
    state.kind = DecisionKind.SPACE
    state.legal = ()
    state.prestige = [0] * seats
    state.money = [0] * seats
    state.hands = [0] * seats
    state.hand_sizes = [0] * seats
    state.stock = [0] * (40 * seats)
    state.lit = [0] * (5 * seats)
    state.bare = [0] * (5 * seats)
    state.towers = [()] * seats
    state.numbers = [1] * seats
    state.display = [0] * 40
    state.present = [0] * 4
    state.piles = [[], [], [], []]
    state.buyer_pile = []
    state.lit_stack = []
    state.gift_deck = []
    state.chests = [()] * len(rules.chests)
    state.gifted = [0] * AREAS
    state.free = list(rules.board)
    state.area_colours = [0] * AREAS
    state.dispatched = [()] * AREAS
    state.face_down = []
    state.space = rules.spaces[0]
    state.gift_queue = ()
    state.pile = 0
    state.to_build = 0
    state.steps = ()
    state.drawn = ()
    state.keep = 0
    return state
