"""What a seat knows from everything it has seen of a match.

Events are public and state every payment, purchase and step of a build. A seat that has followed
all events from the beginning therefore knows every purse, all unbuilt sections, the contents of the
piles and of the gift deck, and which places in the stack of lit windows each seat knows. Only three
things stay hidden: the order of the piles and the deck, the colours of buyers and the colours of
lit windows. The seat's own looks into the buyer pile and the stack reveal part of these colours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from asara_game.events import (
    BuyersDispatched,
    BuyersRecruited,
    Event,
    GiftLaid,
    GiftTaken,
    LitWindowsDrawn,
    LitWindowsKept,
    SectionTaken,
    TowerExtended,
    TowerFounded,
    WindowLit,
    YearStarted,
)
from asara_game.rules import Rules
from asara_game.state import State, unbuilt_index
from asara_game.view import View
from asara_game.vocabulary import (
    SECTION_TYPES,
    DecisionKind,
    GiftKind,
    Section,
    SectionKind,
    section_index,
)

from .buyer_history import BuyerHistory
from .lit_history import LitHistory

_CHOOSE_BUYER: Final = GiftKind.CHOOSE_BUYER


class History:
    """What one seat knows from the events of a match and from its own views.

    Add all events in order with `add`. At each decision of the seat, add its view with `look` after
    all earlier events. Begin with the first event of the set-up, or with `from_view`.

    - `complete`: True if nothing was missed; `Worlds` ignores a history that is incomplete
    - `money`: Asari by seat
    - `unbuilt`: counts of sections held and not built, as in `State.unbuilt`
    - `gift_deck`: the cards that have not been laid, as indices of `rules.gift_cards`
    - `buyers`, `lit_windows`: knowledge of the colours of buyers and of lit windows
    """

    __slots__ = (
        "_tower_colours",
        "buyers",
        "complete",
        "gift_deck",
        "lit_windows",
        "money",
        "rules",
        "seat",
        "unbuilt",
    )

    def __init__(self, rules: Rules, seat: int) -> None:
        self.rules = rules
        self.seat = seat
        self.complete = True
        self.money = [0] * rules.seats
        self.unbuilt = [0] * (len(SECTION_TYPES) * rules.seats)
        self.gift_deck = list(rules.gift_deck) if rules.gifts else []
        self.buyers = BuyerHistory(rules, seat)
        self.lit_windows = LitHistory(rules, seat)
        self._tower_colours: list[list[int]] = [[] for _ in range(rules.seats)]

    @classmethod
    def from_view(cls, seen: View) -> History:
        """Begin a history with a seat's first view, which contains the events of the set-up.

        The history is incomplete if anything else happened before the view, for example after a
        resumption.
        """
        rules, public = seen.rules, seen.public
        history = cls(rules, seen.private.seat)
        history.complete = (
            public.year == 1
            and not any(public.dispatched)
            and all(known.hand_size == rules.hand_size for known in public.seats)
            and not any(known.towers for known in public.seats)
        )
        history.money = list(rules.edition.starting_asari[: rules.seats])
        history.buyers.start_year(rules.hand_size)
        for _, cards in public.chests:
            for card in cards:
                history._lay_gift(rules.gift_cards.index(card))
        history.complete = history.complete and len(history.gift_deck) == public.gift_deck_size
        return history

    def interrupt(self) -> None:
        """Record that events were missed. From now on, only the view counts."""
        self.complete = False

    def add(self, events: Iterable[Event]) -> None:
        """Add the next events, in order."""
        if self.complete:
            for event in events:
                self._add(event)

    def look(self, seen: View) -> None:
        """Add a view of the seat, after all earlier events. `Worlds` adds its own view itself."""
        if not self.complete:
            return
        asked = seen.decision
        own = asked is not None and asked.seat == self.seat
        kind = asked.kind if asked is not None and own else DecisionKind.SPACE
        if kind is DecisionKind.GIFT_BUYER:
            self.buyers.look(seen.private)
        if self.rules.professional:
            self.lit_windows.look(seen.private, kind)

    def allows(self, state: State) -> bool:
        """Return False if the events rule out a state with the last view's public part.

        The colours of buyers and lit windows are not checked.
        """
        if not self.complete:
            return True
        owners = self.lit_windows.owners
        pending = len(owners) - len(state.lit_stack)  # drawn windows are not put back yet
        return (
            state.money == self.money
            and state.unbuilt == self.unbuilt
            and sorted(state.gift_deck) == sorted(self.gift_deck)
            and pending >= 0
            and [(window >> 3) - 1 for window in state.lit_stack] == owners[pending:]
        )

    def _add(self, event: Event) -> None:
        seat = event.seat
        self.money[seat] += event.asari
        if isinstance(event, BuyersDispatched):
            self.buyers.dispatched(seat, event.space, int(event.colour), event.count)
        elif isinstance(event, SectionTaken):
            self.unbuilt[unbuilt_index(seat, section_index(event.section))] += 1
        elif isinstance(event, TowerExtended):
            self._use(seat, event.section)
        elif isinstance(event, TowerFounded):
            colour, base_gold, turret_gold = event.tower[:3]
            self._use(seat, Section(SectionKind.BASE, colour, base_gold))
            self._use(seat, Section(SectionKind.TURRET, colour, turret_gold))
            self._tower_colours[seat].append(colour)
        elif isinstance(event, WindowLit):
            self.lit_windows.built(seat, self._tower_colours[seat][event.tower - 1])
        elif isinstance(event, LitWindowsDrawn):
            self.lit_windows.drawn(seat, event.count)
        elif isinstance(event, LitWindowsKept):
            self.lit_windows.kept(seat, event.count)
        elif isinstance(event, BuyersRecruited):
            self.buyers.drawn(seat, event.count)
        elif isinstance(event, GiftTaken):
            if event.effective and event.card.kind == _CHOOSE_BUYER:
                self.buyers.drawn(seat, 1)
        elif isinstance(event, GiftLaid):
            self._lay_gift(self.rules.gift_cards.index(event.card))
        elif isinstance(event, YearStarted):
            self.buyers.start_year(event.hand_size)

    def _use(self, seat: int, section: Section) -> None:
        self.unbuilt[unbuilt_index(seat, section_index(section))] -= 1

    def _lay_gift(self, card: int) -> None:
        if card in self.gift_deck:
            self.gift_deck.remove(card)
        else:
            self.complete = False
