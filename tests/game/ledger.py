"""A check by other means: follows a match by its public events alone, with the public rules.

Nothing here looks at a state. A scorekeeper beside a real table could keep this ledger.
"""

from collections import Counter
from collections.abc import Iterable

from asara_game.events import (
    BuildStarted,
    BuyersDispatched,
    BuyersRecruited,
    Event,
    FinalEvaluated,
    FundsTaken,
    GeniePaid,
    GiftLaid,
    GiftTaken,
    IncomeReceived,
    LitWindowsDrawn,
    LitWindowsKept,
    PatronageTaken,
    PileSearched,
    SectionTaken,
    TowerExtended,
    TowerFounded,
    WindowLit,
    WishMade,
    YearEvaluated,
    YearStarted,
)
from asara_game.rules import Rules
from asara_game.vocabulary import Area, GiftCard, GiftKind, Section, SectionKind, Space, Tower

_BUILDING = (TowerFounded, TowerExtended, WindowLit)


class Ledger:
    """Purses, scores, hands, towers and spaces according to the events; checks each event."""

    def __init__(self, rules: Rules) -> None:
        seats = rules.seats
        self.rules = rules
        self.asari = [0] * seats
        self.prestige = [0] * seats
        self.hand_sizes = [0] * seats
        self.lit_windows = [0] * seats
        self.stock: list[Counter[Section]] = [Counter() for _ in range(seats)]
        self.towers: list[list[Tower]] = [[] for _ in range(seats)]
        self.taken: dict[Space, int] = {}
        self.area_colours: dict[Area, int] = {}
        self.gifts_taken: Counter[GiftCard] = Counter()
        self.gifts_laid: Counter[Space] = Counter()
        self.chests: dict[Space, tuple[GiftCard, ...]] = {}
        # Cards of the dispatch that have not taken effect yet.
        self.gifts: list[GiftCard] = []
        self.year = 0
        self.finals = 0
        self.patronage = 0
        # The seat that dispatched last; None at the start of a year.
        self.last: int | None = None
        self.plot: Space | None = None
        self.wished = False
        self.to_build = 0

    def follow(self, events: Iterable[Event]) -> None:
        """Enter these events."""
        for event in events:
            self._enter(event)
            self.asari[event.seat] += event.asari
            self.prestige[event.seat] += event.prestige
            assert self.asari[event.seat] >= 0

    def _enter(self, event: Event) -> None:
        seat = event.seat
        if isinstance(event, _BUILDING):
            self._built(event)
            return
        assert self.to_build == 0, f"{self.to_build} sections are missing before {event}"
        if not isinstance(event, GiftTaken | SectionTaken | LitWindowsKept):
            assert not self.gifts, "the cards of a space take effect before its move"
        self._check_amounts(event)
        match event:
            case YearStarted():
                self._new_year(event)
            case GiftLaid():
                self.gifts_laid[event.space] += 1
                self.chests[event.space] = (*self.chests.get(event.space, ()), event.card)
            case BuyersDispatched():
                self._dispatched(event)
            case WishMade():
                assert event.space.area not in (
                    Area.CALIPHS_PATRONAGE,
                    Area.HOUSE_OF_THE_BOTTLE_GENIE,
                )
                self.wished = True
                self.plot = event.space
            case GiftTaken():
                self._gift(event)
            case SectionTaken():
                self.stock[seat][event.section] += 1
            case BuyersRecruited():
                self.hand_sizes[seat] += event.count
            case LitWindowsKept():
                self.lit_windows[seat] += event.count
            case PatronageTaken():
                self.patronage = seat
            case BuildStarted():
                self._started(event)
            case YearEvaluated():
                self._evaluated(event)
            case FinalEvaluated():
                assert self.year == self.rules.edition.years
                self.finals += 1

    def _check_amounts(self, event: Event) -> None:
        """Payments are printed on the board, and so is how much is drawn at most."""
        edition = self.rules.edition
        match event:
            case IncomeReceived():
                yearly = edition.yearly_asari
                first = edition.starting_asari[event.seat]
                assert event.asari == (yearly if self.year > 1 else first)
            case SectionTaken():
                assert event.asari == -edition.prices[event.section.colour - 1]
            case FundsTaken():
                bank = event.space.area == Area.BANK
                assert event.asari == (event.space.number if bank else edition.coloured_building)
            case PileSearched() | GeniePaid() | BuyersRecruited() | BuildStarted():
                assert self.plot is not None
                assert event.asari == -self.plot.number
                if isinstance(event, BuyersRecruited):
                    assert 0 < event.count <= edition.tent_buyers
            case LitWindowsDrawn():
                drawn = {offer.asari: offer.drawn for offer in edition.lit_offers}
                assert 0 < event.count <= drawn[-event.asari]

    def _new_year(self, event: YearStarted) -> None:
        assert event.seat == self.patronage, "the holder of the patronage starts"
        assert not any(self.hand_sizes), "a year ends when nobody holds a buyer"
        assert event.year == self.year + 1
        self.year = event.year
        self.hand_sizes = [event.hand_size] * self.rules.seats
        self.taken.clear()
        self.area_colours.clear()
        self.last = None

    def _dispatched(self, event: BuyersDispatched) -> None:
        self._check_turn(event.seat)
        area = event.space.area
        self.hand_sizes[event.seat] -= event.count
        assert self.hand_sizes[event.seat] >= 0
        if area == Area.COLOURED_BUILDING:
            assert (event.count, event.colour) == (1, 0)
        else:
            assert event.space not in self.taken, "the space must be empty"
            required = self.area_colours.get(area)
            if event.colour:
                assert event.count == 1
                assert required in (None, event.colour), "later buyers follow the area's colour"
                self.area_colours[area] = event.colour
            else:
                assert event.count == 2
                assert required, "a pair replaces a colour that is required (ruling R1)"
        self.gifts = list(self.chests.pop(event.space, ()))
        self.taken[event.space] = event.seat
        self.last = event.seat
        self.plot = event.space
        self.wished = False

    def _check_turn(self, seat: int) -> None:
        first = self.patronage if self.last is None else self.last + 1
        seats = self.rules.seats
        order = [(first + offset) % seats for offset in range(seats)]
        assert seat == next(s for s in order if self.hand_sizes[s]), (
            "clockwise, without empty hands"
        )

    def _gift(self, event: GiftTaken) -> None:
        card = event.card
        assert card == self.gifts.pop(0), "in the order laid (ruling R18), never after a wish (R16)"
        self.gifts_taken[card] += 1
        assert event.asari == (card.asari if card.kind == GiftKind.ASARI else 0)
        assert event.prestige == card.prestige
        if event.effective and card.kind == GiftKind.CHOOSE_BUYER:
            self.hand_sizes[event.seat] += 1

    def _started(self, event: BuildStarted) -> None:
        plot = self.plot
        assert plot is not None
        assert plot.area == Area.BUILDING_CIRCLE
        if event.count != plot.number:
            assert not self.wished, "the genie gives no discount (ruling R13)"
            between = [p for p in self.rules.edition.plots if event.count <= p < plot.number]
            assert event.count in between
            assert all(Space(Area.BUILDING_CIRCLE, p) in self.taken for p in between)
        self.to_build = event.count
        self.standing = list(self.towers[event.seat])

    def _built(self, event: TowerFounded | TowerExtended | WindowLit) -> None:
        own = self.towers[event.seat]
        stock = self.stock[event.seat]
        if isinstance(event, TowerFounded):
            assert event.number == len(own) + 1
            colour, base, turret = event.tower[:3]
            assert event.tower == Tower(colour, base, turret)
            stock[Section(SectionKind.BASE, colour, base)] -= 1
            stock[Section(SectionKind.TURRET, colour, turret)] -= 1
            own.append(event.tower)
        elif isinstance(event, TowerExtended):
            section = event.section
            assert section.kind in (SectionKind.TRUNK, SectionKind.WINDOW)
            assert section.colour == own[event.tower - 1].colour
            stock[section] -= 1
            gold = "gold" if section.gold else "plain"
            self._grow(event.seat, event.tower, f"{gold}_{section.kind.name.lower()}s")
        else:
            self.lit_windows[event.seat] -= 1
            assert self.lit_windows[event.seat] >= 0
            self._grow(event.seat, event.tower, "lit_gold" if event.gold else "lit_plain")
            now, before = own[event.tower - 1], self.standing[event.tower - 1]
            windows = before.gold_windows if event.gold else before.plain_windows
            assert (now.lit_gold if event.gold else now.lit_plain) <= windows, "ruling R5"
        assert min(stock.values(), default=0) >= 0, "only what the seat holds is built"
        self.to_build -= event.prestige
        assert self.to_build >= 0
        assert event.asari == 0

    def _grow(self, seat: int, number: int, field: str) -> None:
        tower = self.towers[seat][number - 1]
        self.towers[seat][number - 1] = tower._replace(**{field: getattr(tower, field) + 1})

    def _evaluated(self, event: YearEvaluated) -> None:
        laid = {info.space: self.year for info in self.rules.chests}
        assert self.gifts_laid == laid, "a card is laid on every chest each year"
        own = self.towers[event.seat]
        gold = sum(t.base_gold + t.turret_gold + t.gold_trunks for t in own)
        gold += sum(t.gold_windows - t.lit_gold for t in own)
        lit = sum(t.lit_plain + t.lit_gold for t in own)
        tile = event.seat == self.patronage
        assert event[:5] == (event.seat, len(own), gold, lit, tile)
        assert event.prestige == len(own) + gold + lit + tile
