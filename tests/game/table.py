"""Positions set up by hand, and turns written as the actions' texts.

A `Table` begins as a real match from a fixed deal. A test replaces some of what was dealt to a seat
or the board; the rest stays as it was dealt.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from asara_game.actions import parse_action, parse_space
from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, new_match
from asara_game.events import BuyersDispatched, Event
from asara_game.moves import options
from asara_game.rules import Rules, SpaceInfo, parse_rule_sets
from asara_game.state import NOT_COUNTED, Dispatched, State, lit_index, pack_hand, unbuilt_index
from asara_game.view import PrivateView, PublicView, public_view, view
from asara_game.vocabulary import (
    MARKET_TYPES,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftCard,
    Section,
    SectionKind,
    Tower,
    section_index,
)

SECRET = bytes(range(32))
EVERYTHING = "pro+gifts+genie"
_E = TypeVar("_E", bound=Event)


@cache
def rules(rule_sets: str, seats: int) -> Rules:
    """The rules of a text such as `pro+gifts`, in the shipped edition."""
    return Rules(load_edition(), parse_rule_sets(rule_sets), seats)


def buyers(text: str) -> list[BuyerColour]:
    """`blue blue green` as colours."""
    return [BuyerColour[word.upper()] for word in text.split()]


def colours(text: str) -> list[Colour]:
    """`red white` as colours."""
    return [Colour[word.upper()] for word in text.split()]


def section(text: str) -> Section:
    """`red trunk gold` as a section."""
    colour, kind, *gold = text.split()
    return Section(SectionKind[kind.upper()], Colour[colour.upper()], gold == ["gold"])


def tower(colour: str, height: int = 2, **fields: Any) -> Tower:
    """A tower of this height; `fields` apart, it consists of plain trunks."""
    found = Tower(Colour[colour.upper()])._replace(**fields)
    return found._replace(plain_trunks=found.plain_trunks + height - found.height)


def told(events: Iterable[Event], kind: type[_E]) -> list[_E]:
    """The events of one class."""
    return [event for event in events if isinstance(event, kind)]


class Table:
    """A match that a test controls; seat 0 is to move until the test changes that."""

    def __init__(
        self,
        rule_sets: str = "basic",
        seats: int = 2,
        *,
        secret: bytes = SECRET,
        chests: tuple[str, ...] = (),
    ) -> None:
        """`chests` are the spaces with a chest, if others than those of the shipped edition."""
        self.rules = rules(rule_sets, seats)
        if chests:
            edition = replace(
                load_edition(), chests=tuple(map(parse_space, chests)), chests_professional=()
            )
            self.rules = Rules(edition, parse_rule_sets(rule_sets), seats)
        self.state: State
        self.state, _ = new_match(self.rules, Deal(secret))

    # Set-up

    def hand(self, seat: int, text: str) -> None:
        """The seat's buyers."""
        held = buyers(text)
        self.state.hands[seat] = pack_hand(held)
        self.state.hand_sizes[seat] = len(held)
        self._ask()

    def money(self, seat: int, asari: int) -> None:
        self.state.money[seat] = asari
        self._ask()

    def stock(self, seat: int, *sections: str) -> None:
        """The seat's unbuilt sections, and no others."""
        counts = [0] * 40
        for found in map(section, sections):
            counts[section_index(found)] += 1
        first = unbuilt_index(seat, 0)
        self.state.unbuilt[first : first + 40] = counts
        self.state.buildable_counts[seat] = NOT_COUNTED
        self._ask()

    def lit(self, seat: int, text: str) -> None:
        """The lit windows that the seat holds."""
        held = colours(text)
        for colour in Colour:
            self.state.lit_held[lit_index(seat, colour)] = held.count(colour)
        self.state.buildable_counts[seat] = NOT_COUNTED
        self._ask()

    def towers(self, seat: int, *towers: Tower) -> None:
        """The seat's towers, and no others."""
        self.state.towers[seat] = towers
        for colour in Colour:
            unlit = sum(t.unlit_windows for t in towers if t.colour == colour)
            self.state.unlit_windows[lit_index(seat, colour)] = unlit
        self.state.buildable_counts[seat] = NOT_COUNTED
        self._ask()

    def occupy(self, *spaces: str, seat: int = 1, colour: str = "blue") -> None:
        """Face-up buyers of one colour lie on these spaces."""
        for text in spaces:
            info = self.info(text)
            face = BuyerColour[colour.upper()]
            self.state.free_spaces[info.area] &= ~info.bit
            self.state.area_colours[info.area] = face
            mark = Dispatched(info.space, seat, face)
            self.state.dispatched[info.area] = (*self.state.dispatched[info.area], mark)
        self._ask()

    def display(self, kind: str, *sections: str) -> None:
        """The display of the market of this kind."""
        market = SectionKind[kind.upper()] - 1
        shown = [section(text) for text in sections]
        for wanted in MARKET_TYPES[market]:
            self.state.display_counts[section_index(wanted)] = shown.count(wanted)
        types = {MARKET_TYPES[market].index(found) for found in shown}
        self.state.types_on_display[market] = sum(1 << number for number in types)
        self._ask()

    def pile(self, kind: str, *sections: str) -> None:
        """A market's face-down pile, top last."""
        market = SectionKind[kind.upper()] - 1
        self.state.piles[market] = [MARKET_TYPES[market].index(section(text)) for text in sections]
        self._ask()

    def buyer_pile(self, text: str) -> None:
        """The buyer pile, top last."""
        self.state.buyer_pile = [int(colour) for colour in buyers(text)]
        self._ask()

    def lit_stack(self, text: str) -> None:
        """The stack of lit windows, top last."""
        self.state.lit_stack = [int(colour) for colour in colours(text)]
        self._ask()

    def gifts(self, space: str, *cards: GiftCard) -> None:
        """The cards on a chest space, in the order they were laid."""
        info = self.info(space)
        self.state.chests[info.chest] = cards
        self.state.gift_spaces[info.area] &= ~info.bit
        if cards:
            self.state.gift_spaces[info.area] |= info.bit
        self._ask()

    def turn(self, seat: int) -> None:
        """It is this seat's turn."""
        self.state.turn_seat = self.state.seat = seat
        self._ask()

    def year(self, year: int) -> None:
        self.state.year = year

    def info(self, space: str) -> SpaceInfo:
        wanted = parse_space(space)
        return next(info for info in self.rules.spaces if info.space == wanted)

    def _ask(self) -> None:
        if self.state.kind == DecisionKind.SPACE:
            self.state.legal = options(self.state)

    # Play

    def play(self, *texts: str) -> list[Event]:
        """Answer one decision after the other; return all events."""
        events: list[Event] = []
        for text in texts:
            events += apply(self.state, parse_action(text))
        return events

    def send(self, space: str, lay: str) -> list[Event]:
        """Dispatch to a space; if there is a choice of buyers, lay these."""
        events = self.play(f"dispatch {space}")
        if not told(events, BuyersDispatched):
            events += self.play(f"lay {lay}")
        return events

    def play_out(self, *, until: int = -1) -> list[Event]:
        """Send all buyers to the coloured building until a year begins, by default to the end."""
        events: list[Event] = []
        while self.state.seat >= 0 and self.state.year != until:
            events += self.play("dispatch coloured-building 1")
            if self.offered() and self.kind == "BUYERS":
                events += self.play(self.offered()[0])
        return events

    # Inspection

    @property
    def kind(self) -> str:
        """Name of the kind of decision."""
        return self.state.kind.name

    def offered(self) -> list[str]:
        """The legal actions."""
        return [str(action) for action in self.state.legal]

    def offers(self, word: str) -> list[int]:
        """The numbers of the spaces of one area (`circle`) that are among the legal actions."""
        lines = (text.split() for text in self.offered())
        return [int(line[2]) for line in lines if len(line) == 3 and line[1] == word]

    def private(self, seat: int) -> PrivateView:
        return view(self.state, seat).private

    @property
    def public(self) -> PublicView:
        return public_view(self.state)

    def asari(self, seat: int) -> int:
        return self.private(seat).asari

    def prestige(self, seat: int) -> int:
        return self.public.seats[seat].prestige

    def held(self, seat: int) -> str:
        """The hand as words: `blue blue green`."""
        counts = zip(BuyerColour, self.private(seat).hand, strict=True)
        return " ".join(colour.name.lower() for colour, n in counts for _ in range(n))
