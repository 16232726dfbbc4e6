"""A replay in words, as the referee or as one seat saw the match.

The account of a seat uses the events, which are public, and that seat's own views, moves and
rejections. Nothing else in the states and records is used, so the account cannot reveal anything
else.
"""

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from asara_codec.results import SeatForfeited, SeatResult
from asara_game.actions import ChooseBuyer, ChooseSpace, KeepLitWindows, LayBuyers, ReturnLitWindow
from asara_game.edition import parse_edition
from asara_game.events import (
    BuildStarted,
    BuyersDispatched,
    BuyersRecruited,
    DisplayFilled,
    Event,
    FinalEvaluated,
    FundsTaken,
    GeniePaid,
    GiftLaid,
    GiftTaken,
    IncomeReceived,
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
    YearEvaluated,
    YearStarted,
)
from asara_game.rules import format_rule_sets
from asara_game.view import PrivateView, view
from asara_game.vocabulary import (
    SECTION_TYPES,
    Area,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftCard,
    GiftKind,
    Section,
    SectionKind,
    Space,
    Tower,
)
from asara_server.journal.replay import Replay, ReplayError, ReplayHeader
from asara_server.journal.resimulate import Step, resimulated_steps
from asara_server.match.inputs import EnterRecord, LeaveRecord, Record, RejectionRecord, ReplyRecord
from asara_server.text import plain_words, reason_text

WIDTH: Final = 100
"""Default maximum of characters in a line."""
_NARROWEST: Final = 40
_QUANTITY: Final = re.compile(r"(?<=\d) (?=[^\W\d])")
"""The blank between a number and its unit, where no line ends."""
_FACE_DOWN: Final = " face down"
_BEFORE_TURN: Final = (DecisionKind.SPACE, DecisionKind.BUYERS)
"""Decisions that a seat makes before any event of its turn becomes public."""
_SETTING_UP: Final = (DisplayFilled, GiftLaid)
_EVALUATING: Final = (IncomeReceived, YearEvaluated, FinalEvaluated)


def narrate(replay: Replay, seat: int | None = None, *, width: int = WIDTH) -> Iterator[str]:
    """Yield the account, line by line: everything, or only what `seat` could know at the time.

    Lines have at most `width` characters if that is enough for a name and a word. Raises
    ReplayError if there is no such seat, and at the first record that does not hold.
    """
    seats = len(replay.header.entries)
    if seat is not None and not 0 <= seat < seats:
        raise ReplayError(f"there is no seat {seat}; this match has seats 0 to {seats - 1}")
    steps = resimulated_steps(replay)
    return narrate_steps(replay.header, steps, seat, width=width)


def narrate_steps(
    header: ReplayHeader,
    steps: Iterable[Step],
    seat: int | None,
    *,
    width: int = WIDTH,
) -> Iterator[str]:
    """Yield the lines of `narrate` for given steps."""
    narrator = _Narrator(header.entries, seat, max(min(width, WIDTH), _NARROWEST))
    yield from narrator.opening(header)
    for step in steps:
        yield from narrator.step(step)
    yield from narrator.ending(step.results)


class _Narrator:
    """Collects the events of a turn, and writes them as one paragraph when the turn is over.

    A forfeit also ends the paragraph, so that each one tells the moves of one player: the bot or
    the steward.

    - `own`: seats whose secrets are shown
    - `prestige`, `shown`: by seat, the prestige now and the prestige last shown
    - `stewards`: seats that have forfeited
    - `turn`: seat whose turn is being collected, or -1
    - `phrases`: the events of the turn
    - `chosen`: by own seat, the space that it chose in its last turn
    - `answered`: by own seat, the numbers of its decisions in the turn
    - `decided`: by own seat, the number of its last decision
    - `deferred`: lines to be written after the turn
    - `changed`: own seats whose possessions have changed since they were last shown
    """

    def __init__(self, entries: tuple[str, ...], seat: int | None, width: int) -> None:
        self.entries = entries
        longest = max(map(len, entries))
        self.names = [f"seat {i}  {entry:<{longest}}" for i, entry in enumerate(entries)]
        self.width = width
        self.seat = seat
        self.own = range(len(entries)) if seat is None else (seat,)
        self.prestige = [0] * len(entries)
        self.shown = [0] * len(entries)
        self.stewards: set[int] = set()
        self.turn = -1
        self.phrases: list[str] = []
        self.chosen: dict[int, str] = {}
        self.answered: defaultdict[int, list[int]] = defaultdict(list)
        self.decided = [0] * len(entries)
        self.deferred: list[str] = []
        self.changed: set[int] = set()

    def opening(self, header: ReplayHeader) -> Iterator[str]:
        viewer = "the referee" if self.seat is None else self._called(self.seat)
        yield f"Match {header.match_id}, as {viewer} saw it"
        edition = parse_edition(header.edition)
        yield f"Rules: {format_rule_sets(header.rule_sets)}. Edition: {edition.name}."

    def _called(self, seat: int) -> str:
        return f"seat {seat} ({self.entries[seat]})"

    def step(self, step: Step) -> Iterator[str]:
        notes = self._secret_notes(step.record)
        if isinstance(step.record, ReplyRecord) and step.record.seat in self.own:
            self.answered[step.record.seat].append(step.decision_id)
            self.decided[step.record.seat] = step.decision_id
        for event in step.events:  # the steward has made all moves of these seats in this step
            if isinstance(event, SeatForfeited) and event.seat in self.own:
                yield from self._forfeit(event)
        for event in step.events:
            words = ""
            if notes and isinstance(event, notes[0][0]):
                words = notes.pop(0)[1]
            yield from self._event(event, words)
        state = step.state
        if state.seat < 0 or state.kind in _BEFORE_TURN:
            yield from self._end_turn()
            for seat in sorted(self.changed):
                yield from self._paragraph(
                    self.names[seat], _possessions(view(state, seat).private)
                )
            self.changed.clear()
        elif (
            state.seat in self.own
            and state.kind is not DecisionKind.LIT_RETURN  # already seen when drawn
            and (step.record is None or isinstance(step.record, ReplyRecord))
        ):
            self.phrases += _insights(view(state, state.seat).private)
        if self.turn < 0:
            yield from self._end_turn()

    def _secret_notes(self, record: Record | None) -> list[tuple[type, str]]:
        """Return the secrets that an own record adds to the next events of these types."""
        notes: list[tuple[type, str]] = []
        if isinstance(record, RejectionRecord) and record.seat in self.own:
            reason = plain_words(record.reason.name)
            text = f"gives a reply that is rejected ({reason}): {record.detail}"
            self.deferred.append(f"{self.names[record.seat]}  {text}")
        elif isinstance(record, LeaveRecord | EnterRecord) and record.seat in self.own:
            what = "reconnects" if isinstance(record, EnterRecord) else "loses its connection"
            self.deferred.append(f"{self.names[record.seat]}  {what}")
        elif isinstance(record, ReplyRecord) and record.seat in self.own:
            for action in record.actions:
                match action:
                    case ChooseSpace(space):
                        self.chosen[record.seat] = place_words(space)
                    case LayBuyers(buyers, face_down) if face_down:
                        names = ", ".join(buyer.name.lower() for buyer in buyers)
                        notes.append((BuyersDispatched, f" ({names})"))
                    case KeepLitWindows(colours):
                        names = ", ".join(colour.name.lower() for colour in colours)
                        notes.append((LitWindowsKept, f" ({names})"))
                    case ChooseBuyer(buyer):  # the gift card's event does not contain it
                        self.phrases.append(f"takes a {buyer.name.lower()} buyer")
                    case ReturnLitWindow(colour):  # no event says so
                        words = f"puts a {colour.name.lower()} one under the stack"
                        if notes and notes[-1][0] is LitWindowsKept:  # in the same reply
                            kept, note = notes[-1]
                            notes[-1] = (kept, f"{note}; {words}")
                        else:
                            self.phrases.append(words)
        return notes

    def _event(self, event: Event | SeatForfeited, note: str) -> Iterator[str]:
        seat = event.seat
        if isinstance(event, SeatForfeited):
            if seat not in self.own:
                yield from self._forfeit(event)
        elif isinstance(event, YearStarted):
            yield from self._end_turn()
            self.changed.update(self.own)
            yield ""
            yield f"Year {event.year}: {self._called(seat)} starts."
        elif isinstance(event, _SETTING_UP):
            yield from self._end_turn()
            words = phrase(event)
            yield from self._paragraph("", f"{words[0].upper()}{words[1:]}.")
        elif isinstance(event, _EVALUATING):
            yield from self._end_turn()
            yield from self._with_prestige(seat, phrase(event), event.prestige)
        else:
            if isinstance(event, BuyersDispatched):
                yield from self._end_turn()
                self.turn = seat
            words = phrase(event)
            if _FACE_DOWN in words:
                self.phrases.append(words.replace(_FACE_DOWN, f"{note}{_FACE_DOWN}"))
            else:
                self.phrases.append(words + note)
            self.prestige[seat] += event.prestige

    def _forfeit(self, event: SeatForfeited) -> Iterator[str]:
        """Yield the turn of the seat as far as its bot, to the viewer's knowledge, played it."""
        seat = event.seat
        words = phrase(event)
        if seat in self.answered and not self.phrases:  # it chose a space, but laid no buyers
            self.turn = seat
            self.phrases.append(f"chooses {self.chosen[seat]}")
        elif seat == self.turn and seat not in self.own:
            words += " during this turn"
        if len(self.entries) - len(self.stewards) <= 2:
            words += "; the match is over"
        else:
            words += "; the steward plays on"
            if seat in self.own:
                words += f" from decision {self.decided[seat] + 1}"
        self.deferred.append(f"{self.names[seat]}  {words}")
        if seat == self.turn:
            yield from self._end_turn()
            self.turn = seat
        self.stewards.add(seat)

    def _end_turn(self) -> Iterator[str]:
        if self.phrases:
            steward = "(steward) " if self.turn in self.stewards else ""
            numbers = self.answered.pop(self.turn, [])
            yield from self._with_prestige(self.turn, steward + "; ".join(self.phrases), 0, numbers)
            if self.turn in self.own:
                self.changed.add(self.turn)
        for line in self.deferred:
            yield from self._paragraph("", line)
        self.turn = -1
        self.phrases.clear()
        self.deferred.clear()

    def _with_prestige(
        self, seat: int, text: str, prestige: int, decisions: Sequence[int] = ()
    ) -> Iterator[str]:
        self.prestige[seat] += prestige
        if self.prestige[seat] != self.shown[seat]:
            self.shown[seat] = self.prestige[seat]
            text += f". Prestige: {self.prestige[seat]}"
        if len(decisions) == 1:
            text += f". Decision {decisions[0]}"
        elif decisions:
            text += f". Decisions {decisions[0]}–{decisions[-1]}"
        return self._paragraph(self.names[seat], f"{text}.")

    def _paragraph(self, head: str, text: str) -> Iterator[str]:
        """Yield a paragraph with a hanging indent after its head."""
        first = f"  {head}  " if head else "  "
        further = " " * min(len(first) if head else 4, self.width // 3)
        narrow = len(first) > self.width * 2 // 3
        lines = textwrap.wrap(
            _QUANTITY.sub("\xa0", text),
            self.width,
            initial_indent=first,
            subsequent_indent=further,
            break_long_words=False,
            break_on_hyphens=narrow,
        )
        yield from (line.replace("\xa0", " ") for line in lines)

    def ending(self, results: Iterable[SeatResult]) -> Iterator[str]:
        yield from self._end_turn()
        yield ""
        yield "Result"
        for result in sorted(results, key=lambda result: (result.end.rank, result.seat)):
            end = result.end
            parts = [f"{end.prestige} prestige"]
            if end.termination.forfeit:
                kind = plain_words(end.termination.name)
                parts.append(f"forfeited ({kind}): {reason_text(end.detail)}")
            parts.append(f"{result.asari} Asari left")
            if any(result.sections):
                parts.append(f"never built: {section_words(result.sections)}")
            if any(result.lit_windows):
                parts.append(f"lit windows: {colour_words(result.lit_windows)}")
            yield from self._paragraph(f"{end.rank}.  {self.names[result.seat]}", "; ".join(parts))


def _insights(private: PrivateView) -> Iterator[str]:
    """Yield the hidden pieces that a seat is choosing from."""
    if private.searched_sections:
        yield f"sees {listed_sections(private.searched_sections)}"
    if private.searched_buyers:
        yield f"sees {listed_buyers(private.searched_buyers)}"
    if private.searched_lit_windows:
        yield f"sees {', '.join(colour.name.lower() for colour in private.searched_lit_windows)}"


def _possessions(private: PrivateView) -> str:
    """Return the possessions behind a seat's screen."""
    parts = [f"{private.asari} Asari", f"buyers: {buyer_words(private.hand)}"]
    if any(private.sections):
        parts.append(f"unbuilt: {section_words(private.sections)}")
    if any(private.lit_windows):
        parts.append(f"lit windows: {colour_words(private.lit_windows)}")
    return f"has {'; '.join(parts)}."


# Events and pieces in words


def phrase(event: Event | SeatForfeited) -> str:
    """Return an event without its seat, such as `buys a red trunk (-5 Asari)`."""
    return _PHRASES[type(event)](event) + _gains(event.asari, event.prestige)


def _gains(asari: int, prestige: int) -> str:
    parts = [
        f"{amount:+d} {unit}"
        for amount, unit in ((asari, "Asari"), (prestige, "prestige"))
        if amount
    ]
    return f" ({', '.join(parts)})" if parts else ""


def card_words(card: GiftCard) -> str:
    """Return the effect of a gift card."""
    match card.kind:
        case GiftKind.CHOOSE_BUYER:
            return "choose a buyer"
        case GiftKind.ASARI:
            return f"{card.asari} Asari"
        case GiftKind.BUY_SECTION:
            return f"buy a {SectionKind(card.section_kind).name.lower()}"
        case GiftKind.PRESTIGE:
            return f"{card.prestige} prestige"
        case GiftKind.BUY_LIT_WINDOW:
            return f"buy a lit window for {card.asari} Asari"


def buyer_words(counts: Iterable[int]) -> str:
    """Describe five counts by buyer colour, such as `2 blue, 1 green`; `none` if all are 0."""
    return _counted((colour.name.lower() for colour in BuyerColour), counts)


def colour_words(counts: Iterable[int]) -> str:
    """Describe five counts by colour, such as `1 red, 2 white`; `none` if all are 0."""
    return _counted((colour.name.lower() for colour in Colour), counts)


def section_words(counts: Iterable[int]) -> str:
    """Describe 40 counts by section, such as `1 red trunk with gold, 2 white bases`; or `none`."""
    pairs = zip(SECTION_TYPES, counts, strict=True)
    return ", ".join(_sections(count, section) for section, count in pairs if count) or "none"


def _sections(count: int, section: Section) -> str:
    thing = f"{section.colour.name.lower()} {section.kind.name.lower()}"
    return _plural(count, thing) + (" with gold" if section.gold else "")


def _a_section(section: Section) -> str:
    return _sections(1, section).replace("1 ", "a ", 1)


def market_words(sections: Iterable[Section]) -> str:
    """Describe sections of one kind, such as `2 brown, 1 brown with gold`."""
    found = Counter(sections)
    return ", ".join(
        f"{found[section]} {section.colour.name.lower()}{' with gold' if section.gold else ''}"
        for section in SECTION_TYPES
        if found[section]
    )


def place_words(space: Space) -> str:
    """Return the location of a space, such as `the bank (space 12)`."""
    number = "plot" if space.area is Area.BUILDING_CIRCLE else "space"
    name = plain_words(space.area.name).replace("caliphs", "caliph's")
    return f"the {name} ({number} {space.number})"


def _counted(names: Iterable[str], counts: Iterable[int]) -> str:
    pairs = zip(names, counts, strict=True)
    return ", ".join(f"{count} {name}" for name, count in pairs if count) or "none"


def listed_sections(sections: Iterable[Section]) -> str:
    """Describe a list of sections as `section_words` does."""
    found = Counter(sections)
    return section_words(found[section] for section in SECTION_TYPES)


def listed_buyers(buyers: Iterable[BuyerColour]) -> str:
    """Describe a list of buyers, such as `2 blue, 1 green`."""
    found = Counter(buyers)
    return buyer_words(found[colour] for colour in BuyerColour)


def _dispatched(event: BuyersDispatched) -> str:
    if event.colour:
        buyers = f"a {BuyerColour(event.colour).name.lower()} buyer".replace("a o", "an o")
    else:
        buyers = f"{_plural(event.count, 'buyer')} face down"
    return f"dispatches {buyers} to {place_words(event.space)}"


def _gift(event: GiftTaken) -> str:
    effect = "takes the gift" if event.effective else "cannot use the gift"
    return f"{effect}: {card_words(event.card)}"


def _tower(event: TowerFounded) -> str:
    tower: Tower = event.tower
    gold = tower.base_gold + tower.turret_gold
    bearing = f" with {gold} gold" if gold else ""
    return f"founds tower {event.number} ({tower.colour.name.lower()}{bearing})"


def _year_evaluated(event: YearEvaluated) -> str:
    sources = (
        (event.towers, "towers"),
        (event.gold, "gold"),
        (event.lit_windows, "lit windows"),
        (event.patronage, "patronage"),
    )
    return _sources("scores in the yearly evaluation", sources)


def _final_evaluated(event: FinalEvaluated) -> str:
    sources = (
        *(
            (points, colour.name.lower())
            for points, colour in zip(event.colours, Colour, strict=True)
        ),
        (event.highest_tower, "highest tower"),
        (event.most_towers, "most towers"),
        (event.money, "money"),
    )
    return _sources("scores in the final evaluation", sources)


def _sources(title: str, sources: Iterable[tuple[int, str]]) -> str:
    parts = [f"{points} for {name}" for points, name in sources if points]
    return f"{title}: {', '.join(parts) or 'nothing'}"


def _plural(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


_PHRASES: Final[dict[type, Callable[[Any], str]]] = {
    YearStarted: lambda e: f"year {e.year} begins with {_plural(e.hand_size, 'buyer')} each",
    IncomeReceived: lambda _: "receives income",
    DisplayFilled: lambda e: (
        f"the {e.sections[0].kind.name.lower()} market displays {market_words(e.sections)}"
    ),
    GiftLaid: lambda e: f"a gift is laid on {place_words(e.space)}: {card_words(e.card)}",
    BuyersDispatched: _dispatched,
    GiftTaken: _gift,
    SectionTaken: lambda e: (
        f"buys {_a_section(e.section)}{' from the pile' if e.from_pile else ''}"
    ),
    MoveDeclined: lambda _: "takes nothing",
    MoveLost: lambda _: "cannot pay and loses the move",
    FundsTaken: lambda _: "takes money",
    PileSearched: lambda e: f"searches the {e.kind.name.lower()} pile",
    PatronageTaken: lambda _: "takes the patronage",
    BuyersRecruited: lambda e: f"recruits {_plural(e.count, 'buyer')}",
    LitWindowsDrawn: lambda e: f"draws {_plural(e.count, 'lit window')}",
    LitWindowsKept: lambda e: f"keeps {_plural(e.count, 'lit window')}",
    GeniePaid: lambda _: "pays the genie",
    WishMade: lambda e: f"wishes for {place_words(e.space)}",
    BuildStarted: lambda e: f"builds {_plural(e.count, 'section')}",
    TowerFounded: _tower,
    TowerExtended: lambda e: f"adds {_a_section(e.section)} to tower {e.tower}",
    WindowLit: lambda e: f"lights a window{' with gold' if e.gold else ''} in tower {e.tower}",
    YearEvaluated: _year_evaluated,
    FinalEvaluated: _final_evaluated,
    SeatForfeited: lambda e: f"forfeits ({plain_words(e.termination.name)})",
}
