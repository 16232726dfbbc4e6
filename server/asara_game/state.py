"""The state of a match: everything, hidden or not.

Everything that changes is stored in flat lists of small ints and immutable tuples, so a copy takes
only a microsecond or two. Lists by seat, area and market start at index 0, except that no area has
number 0. `unbuilt_index` and `lit_index` locate a seat's counts in the longer lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from .actions import Action
from .deal import Shuffler
from .rules import AREAS, Rules, SpaceInfo
from .vocabulary import (
    COLOURS,
    MARKETS,
    SECTION_TYPES,
    BuyerColour,
    DecisionKind,
    GiftCard,
    Space,
    Tower,
)

ONE: Final = (0, 1, 1 << 6, 1 << 12, 1 << 18, 1 << 24)
"""One buyer of each colour in a packed hand, which has six bits per colour."""
MASK: Final = (0, 63, 63 << 6, 63 << 12, 63 << 18, 63 << 24)
"""All buyers of each colour in a packed hand."""

SHUFFLED: Final = ("base", "trunk", "window", "turret", "buyers", "lit-windows", "gifts")
"""Names of everything that is shuffled. A shuffle's label is the name and its count so far."""
BUYERS, LIT_WINDOWS, GIFTS = 4, 5, 6

NOT_COUNTED: Final = -1
"""Entry of `State.buildable_counts` that must be computed again."""


def pack_hand(buyers: Iterable[int]) -> int:
    """Return the packed hand that holds these buyers."""
    hand = 0
    for colour in buyers:  # compiled, a third of the time that `sum` takes
        hand += ONE[colour]
    return hand


def buyer_counts(hand: int) -> tuple[int, int, int, int, int]:
    """Return the number of buyers of each colour in a packed hand."""
    return (hand & 63, hand >> 6 & 63, hand >> 12 & 63, hand >> 18 & 63, hand >> 24)


def unbuilt_index(seat: int, section: int) -> int:
    """Return a section's index in `State.unbuilt`, given its index in SECTION_TYPES."""
    return seat * 40 + section


def lit_index(seat: int, colour: int) -> int:
    """Return the index of a colour in `State.lit_held` and `State.unlit_windows`."""
    return seat * 5 + colour - 1


def lit_colour(window: int) -> int:
    """Return the colour of an entry of `State.lit_stack`."""
    return window & 7


def known_lit_window(seat: int, colour: int) -> int:
    """Return the `State.lit_stack` entry for a window whose place this seat knows (ruling R9)."""
    return seat + 1 << 3 | colour


class IllegalAction(ValueError):
    """Raised for an action that is not in the legal list; the state is unchanged."""


class Dispatched(NamedTuple):
    """One dispatch to a space, as everybody sees it."""

    space: Space
    seat: int
    colour: BuyerColour | int
    """0 for face-down buyers."""


class Decision(NamedTuple):
    """The open decision, and how far the turn has come."""

    seat: int
    kind: DecisionKind
    space: Space | None = None
    """The space dispatched to or, after a wish, the space wished for; None in decision SPACE."""
    sections_to_build: int = 0
    build_steps: tuple[Action, ...] = ()
    gifts: tuple[GiftCard, ...] = ()
    """Gift cards that have yet to take effect, the current card first."""
    lit_windows_to_keep: int = 0


class State:
    """A match at a decision, or over. `new_match` creates it; only `apply` changes it."""

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
    shuffle_counts: list[int]
    """Number of shuffles so far of each thing in SHUFFLED."""
    year: int
    turn_seat: int
    """Seat whose turn it is."""
    seat: int
    """Seat that decides, always the seat whose turn it is; -1 when the match is over."""
    kind: DecisionKind
    legal: Sequence[Action]
    patronage_seat: int

    # By seat.
    prestige: list[int]
    money: list[int]
    """Asari by seat."""
    hands: list[int]
    """Packed hands (see `pack_hand`)."""
    hand_sizes: list[int]
    """Number of buyers by seat."""
    unbuilt: list[int]
    """Counts of sections held and not built (see `unbuilt_index`)."""
    lit_held: list[int]
    """Counts of lit windows held and not built (see `lit_index`)."""
    unlit_windows: list[int]
    """Counts of windows in towers that no lit window covers (see `lit_index`)."""
    towers: list[tuple[Tower, ...]]
    buildable_counts: list[int]
    """Numbers of sections that each seat could build (see `build.buildable`), or NOT_COUNTED.
    Caching them saves a twelfth of the engine's time per decision if the engine is not compiled."""

    # The table.
    display_counts: list[int]
    """Counts of sections on display, in the order of SECTION_TYPES."""
    types_on_display: list[int]
    """Bits of the MARKET_TYPES on display, by market."""
    piles: list[list[int]]
    """By market: the face-down pile as numbers of types in MARKET_TYPES, top last."""
    buyer_pile: list[int]
    """Buyer colours, top last."""
    lit_stack: list[int]
    """Lit windows, top last: each is a colour or a `known_lit_window`."""
    gift_deck: list[int]
    """Indices of `rules.gift_cards`, top last."""
    chests: list[tuple[GiftCard, ...]]
    """Cards by chest, oldest first."""
    gift_spaces: list[int]
    """By area: bits of the spaces with gift cards."""
    free_spaces: list[int]
    """By area: bits of the free spaces."""
    area_colours: list[int]
    """By area: the buyer colour that must be followed, or 0."""
    dispatched: list[tuple[Dispatched, ...]]
    """By area: this year's dispatches, by space and time."""
    face_down: list[tuple[int, Space, tuple[BuyerColour, ...]]]
    """All buyers laid face down this year: seat, space, colours."""

    # The turn. A move clears what it leaves here, except for the space and the searched market.
    space: SpaceInfo
    """The space dispatched to or, after a wish, the space wished for."""
    gift_queue: tuple[GiftCard, ...]
    """Gift cards that have yet to take effect, the current card first."""
    searched_market: int
    """Market whose pile is being searched."""
    sections_to_build: int
    build_steps: tuple[Action, ...]
    lit_drawn: tuple[int, ...]
    """Colours of the lit windows drawn, in the order drawn. After the seat has kept some, only the
    windows that must still go under the stack."""
    lit_to_keep: int
    """How many of the drawn lit windows the seat keeps."""

    def copy(self, shuffler: Shuffler | None = None) -> State:
        """Return an independent copy. The copy shares the shuffler unless you pass another one."""
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

    def unbuilt_of(self, seat: int) -> list[int]:
        """A seat's counts of unbuilt sections, in the order of SECTION_TYPES."""
        return self.unbuilt[seat * 40 : seat * 40 + 40]

    def lit_held_by(self, seat: int) -> list[int]:
        """A seat's counts of lit windows held, by colour."""
        return self.lit_held[seat * 5 : seat * 5 + 5]

    def unlit_windows_of(self, seat: int) -> list[int]:
        """A seat's counts of windows that no lit window covers, by colour."""
        return self.unlit_windows[seat * 5 : seat * 5 + 5]

    def display_of(self, market: int) -> list[int]:
        """A market's counts of sections on display, in the order of its MARKET_TYPES."""
        return self.display_counts[market * 10 : market * 10 + 10]

    def shuffle(self, thing: int, items: list[int]) -> None:
        """Shuffle an item of SHUFFLED in place. Its earlier order has no influence."""
        items.sort()
        count = self.shuffle_counts[thing]
        self.shuffle_counts[thing] = count + 1
        self.shuffler.shuffle(f"{SHUFFLED[thing]}/{count}", items)


def blank(rules: Rules, shuffler: Shuffler) -> State:
    """Return a state with an empty table, before the first year."""
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
    state.unbuilt = [0] * (len(SECTION_TYPES) * seats)
    state.lit_held = [0] * (len(COLOURS) * seats)
    state.unlit_windows = [0] * (len(COLOURS) * seats)
    state.towers = [()] * seats
    state.buildable_counts = [1] * seats  # only the number 0 is possible
    state.display_counts = [0] * len(SECTION_TYPES)
    state.types_on_display = [0] * len(MARKETS)
    state.piles = [[] for _ in MARKETS]
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
