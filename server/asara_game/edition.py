"""The edition: numbers printed on board and components, as data with the source of each."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from .actions import format_space, parse_space
from .vocabulary import Area, BuyerColour, Colour, GiftCard, GiftKind, SectionKind, Space

__all__ = ["Award", "Edition", "EditionError", "LitOffer", "load_edition", "parse_edition"]


class EditionError(ValueError):
    """An edition file is wrong; the message names the table and key."""


class Award(NamedTuple):
    """Prestige for the first two places."""

    first: int
    second: int


class LitOffer(NamedTuple):
    """One way to pay in the House of Lighted Windows: Asari, windows drawn, windows kept."""

    asari: int
    drawn: int
    kept: int


class Source(NamedTuple):
    """Where the numbers of one table of the edition come from."""

    table: str
    values: str
    source: str


@dataclass(frozen=True)
class Edition:
    """All numbers of an edition. Tuples by colour run from BROWN, by buyer colour from BLUE."""

    name: str
    years: int
    prices: tuple[int, ...]
    #: By section kind, then colour: (plain, gold).
    tiles: tuple[tuple[tuple[int, int], ...], ...]
    lit_windows: tuple[int, ...]
    buyers: tuple[int, ...]
    #: For 2, 3 and 4 players.
    hand_sizes: tuple[int, int, int]
    #: By seat.
    starting_asari: tuple[int, ...]
    yearly_asari: int
    market_spaces: int
    display_size: int
    plots: tuple[int, ...]
    bank: tuple[int, ...]
    coloured_building: int
    spies: tuple[int, ...]
    patronage_spaces: int
    tent: tuple[int, ...]
    tent_buyers: int
    lit_spaces: int
    lit_offers: tuple[LitOffer, ...]
    genie: tuple[int, ...]
    gifts: tuple[tuple[GiftCard, int], ...]
    chests: tuple[Space, ...]
    gifts_professional: tuple[tuple[GiftCard, int], ...]
    chests_professional: tuple[Space, ...]
    colour_awards: tuple[Award, ...]
    highest_award: Award
    most_award: Award
    asari_per_prestige: int
    #: One row per table of the file.
    sources: tuple[Source, ...] = field(default=(), compare=False)
    #: The file, byte for byte.
    data: bytes = field(default=b"", compare=False, repr=False)

    @property
    def sha256(self) -> bytes:
        """SHA-256 of the file; pins the edition in every replay."""
        return hashlib.sha256(self.data).digest()


def load_edition(path: Path | None = None) -> Edition:
    """The edition in `path`, or the one that comes with the rules; raises EditionError."""
    if path is None:
        return _shipped()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EditionError(f"{path}: {error.strerror or error}") from None
    try:
        return parse_edition(data)
    except EditionError as error:
        raise EditionError(f"{path}: {error}") from None


@cache
def _shipped() -> Edition:
    return parse_edition(resources.files(__package__).joinpath("edition.toml").read_bytes())


def parse_edition(data: bytes) -> Edition:
    """The edition that the bytes of a file describe; raises EditionError."""
    try:
        raw = tomllib.loads(data.decode())
    except ValueError as error:  # of the text, of TOML, or of a number with thousands of digits
        raise EditionError(f"not TOML: {error}") from None
    except RecursionError:
        raise EditionError("not TOML: nested too deeply") from None
    root = _Table("", raw)
    name = root.text("name")
    reader = _Reader(root)
    edition = reader.edition(name, data)
    root.done()
    _check(edition)
    return edition


_COLOUR_KEYS = [colour.name.lower() for colour in Colour]
_GIFT_KINDS = {kind.name.lower().replace("_", "-"): kind for kind in GiftKind}
_KINDS = {kind.name.lower(): kind for kind in SectionKind}
#: Larger numbers are mistakes, and hands are packed into six bits a colour.
_LIMIT = 60
#: Spaces that an area has room for.
_SPACES = 8


class _Table:
    """A TOML table that remembers which keys were read, and names them in errors."""

    def __init__(self, path: str, raw: dict[str, Any]) -> None:
        self.path = path
        self.raw = raw
        self.unread = set(raw)

    def get(self, key: str) -> Any:
        if key not in self.raw:
            raise EditionError(f"{self.path}{key}: missing")
        self.unread.discard(key)
        return self.raw[key]

    def table(self, key: str) -> _Table:
        return _as_table(f"{self.path}{key}", self.get(key))

    def tables(self, key: str) -> list[_Table]:
        raw = self.get(key)
        if not isinstance(raw, list):
            raise EditionError(f"{self.path}{key}: not a list of tables")
        return [_as_table(f"{self.path}{key}[{index}]", item) for index, item in enumerate(raw)]

    def text(self, key: str) -> str:
        value = self.get(key)
        if not isinstance(value, str) or not value.strip():
            raise EditionError(f"{self.path}{key}: not a text")
        return value

    def number(self, key: str, least: int = 1, most: int = _LIMIT) -> int:
        return _as_number(f"{self.path}{key}", self.get(key), least, most)

    def numbers(self, key: str, count: int | None = None, least: int = 1) -> tuple[int, ...]:
        value = self.get(key)
        if not isinstance(value, list) or (count is not None and len(value) != count):
            wanted = "a list" if count is None else f"a list of {count} numbers"
            raise EditionError(f"{self.path}{key}: not {wanted}")
        return tuple(_as_number(f"{self.path}{key}[{i}]", v, least) for i, v in enumerate(value))

    def distinct(self, key: str) -> tuple[int, ...]:
        """Numbers printed on the spaces of one area: they tell the spaces apart."""
        values = self.numbers(key)
        if not values or len(set(values)) != len(values) or len(values) > _SPACES:
            raise EditionError(f"{self.path}{key}: needs 1 to {_SPACES} different numbers")
        return tuple(sorted(values))

    def done(self) -> None:
        if self.unread:
            raise EditionError(f"{self.path}{min(self.unread)}: unknown key")


def _as_table(path: str, raw: Any) -> _Table:
    if not isinstance(raw, dict):
        raise EditionError(f"{path}: not a table")
    return _Table(f"{path}.", raw)


def _as_number(path: str, value: Any, least: int, most: int = _LIMIT) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise EditionError(f"{path}: not a whole number from {least} to {most}")
    return value


class _Reader:
    """Reads one table after the other and keeps their sources."""

    def __init__(self, root: _Table) -> None:
        self.root = root
        self.sources: list[Source] = []
        self.open: _Table | None = None
        self.source = ""

    def enter(self, key: str) -> _Table:
        """The next table; the one before must be read to its end."""
        self.leave()
        self.open = self.root.table(key)
        self.source = self.open.text("source")
        return self.open

    def leave(self) -> None:
        table = self.open
        if table is not None:
            table.done()
            name = table.path.removesuffix(".")
            parts = [_told(name, k, v) for k, v in table.raw.items() if k != "source"]
            values = ("; " if name == "tiles" else ", ").join(parts)
            self.sources.append(Source(name, values, self.source))

    def edition(self, name: str, data: bytes) -> Edition:
        years = self.enter("years").number("value")
        table = self.enter("prices")
        prices = tuple(table.number(key) for key in _COLOUR_KEYS)
        table = self.enter("tiles")
        tiles = tuple(_tiles(table.table(kind.name.lower())) for kind in SectionKind)
        table = self.enter("lit_windows")
        lit_windows = tuple(table.number(key, 0) for key in _COLOUR_KEYS)
        table = self.enter("buyers")
        buyers = tuple(table.number(colour.name.lower()) for colour in BuyerColour)
        table = self.enter("hand_size")
        hand_sizes = (table.number("2"), table.number("3"), table.number("4"))
        starting_asari = self.enter("starting_asari").numbers("value", 4, 0)
        yearly_asari = self.enter("yearly_asari").number("value", 0)
        table = self.enter("market")
        market_spaces, display_size = table.number("spaces", most=_SPACES), table.number("display")
        plots = self.enter("building_circle").distinct("plots")
        bank = self.enter("bank").distinct("values")
        coloured_building = self.enter("coloured_building").number("income")
        spies = self.enter("house_of_spies").distinct("costs")
        patronage_spaces = self.enter("caliphs_patronage").number("spaces", most=_SPACES)
        table = self.enter("tent")
        tent, tent_buyers = table.distinct("costs"), table.number("buyers")
        table = self.enter("house_of_lighted_windows")
        lit_spaces = table.number("spaces", most=_SPACES)
        lit_offers = tuple(_offer(offer) for offer in table.tables("offers"))
        genie = self.enter("house_of_the_bottle_genie").distinct("costs")
        gifts, chests = _gifts(self.enter("gifts"))
        gifts_professional, chests_professional = _gifts(self.enter("gifts_professional"))
        table = self.enter("awards")
        awards = tuple(Award(*table.numbers(key, 2, 0)) for key in _COLOUR_KEYS)
        highest = Award(*table.numbers("highest_tower", 2, 0))
        most = Award(*table.numbers("most_towers", 2, 0))
        asari_per_prestige = table.number("asari_per_prestige")
        self.leave()
        return Edition(
            name=name,
            years=years,
            prices=prices,
            tiles=tiles,
            lit_windows=lit_windows,
            buyers=buyers,
            hand_sizes=hand_sizes,
            starting_asari=starting_asari,
            yearly_asari=yearly_asari,
            market_spaces=market_spaces,
            display_size=display_size,
            plots=plots,
            bank=bank,
            coloured_building=coloured_building,
            spies=spies,
            patronage_spaces=patronage_spaces,
            tent=tent,
            tent_buyers=tent_buyers,
            lit_spaces=lit_spaces,
            lit_offers=lit_offers,
            genie=genie,
            gifts=gifts,
            chests=chests,
            gifts_professional=gifts_professional,
            chests_professional=chests_professional,
            colour_awards=awards,
            highest_award=highest,
            most_award=most,
            asari_per_prestige=asari_per_prestige,
            sources=tuple(self.sources),
            data=data,
        )


def _told(table: str, key: str, value: Any) -> str:
    """One value of a table, for people."""
    if table == "tiles":
        colours = (f"{colour} {plain} + {gold} gold" for colour, (plain, gold) in value.items())
        return f"{key}: {', '.join(colours)}"
    return _show(value) if key in ("value", "values") else f"{key} {_show(value)}"


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return "(" + ", ".join(f"{k} {_show(v)}" for k, v in value.items()) + ")"
    if isinstance(value, list):
        return ", ".join(_show(v) for v in value)
    return str(value)


def _tiles(table: _Table) -> tuple[tuple[int, int], ...]:
    rows = []
    for key in _COLOUR_KEYS:
        plain, gold = table.numbers(key, 2, 0)
        rows.append((plain, gold))
    table.done()
    return tuple(rows)


def _offer(table: _Table) -> LitOffer:
    offer = LitOffer(table.number("asari"), table.number("drawn"), table.number("kept"))
    table.done()
    if offer.kept > 2 or offer.kept > offer.drawn:
        raise EditionError(f"{table.path}kept: not 1 or 2, or more than drawn")
    return offer


_GIFT_FIELDS = {
    GiftKind.CHOOSE_BUYER: (),
    GiftKind.ASARI: ("asari",),
    GiftKind.BUY_SECTION: ("section_kind",),
    GiftKind.PRESTIGE: ("prestige",),
    GiftKind.BUY_LIT_WINDOW: ("asari",),
}


def _gifts(table: _Table) -> tuple[tuple[tuple[GiftCard, int], ...], tuple[Space, ...]]:
    cards = []
    for row in table.tables("cards"):
        word = row.text("kind")
        kind = _GIFT_KINDS.get(word)
        if kind is None:
            raise EditionError(f"{row.path}kind: {word!r} is none of {', '.join(_GIFT_KINDS)}")
        fields: dict[str, Any] = {}
        for key in _GIFT_FIELDS[kind]:
            if key == "section_kind":
                name = row.text(key)
                if name not in _KINDS:
                    raise EditionError(f"{row.path}{key}: {name!r} is none of {', '.join(_KINDS)}")
                fields[key] = _KINDS[name]
            else:
                fields[key] = row.number(key)
        cards.append((GiftCard(kind, **fields), row.number("count")))
        row.done()
    texts = table.get("chests")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise EditionError(f"{table.path}chests: not a list of spaces")
    chests = []
    for index, text in enumerate(texts):
        try:
            chests.append(parse_space(text))
        except ValueError as error:
            raise EditionError(f"{table.path}chests[{index}]: {error}") from None
    return tuple(cards), tuple(chests)


def _check(edition: Edition) -> None:
    """Numbers that fit each other; raises EditionError."""
    if edition.plots[-1] > 15:
        raise EditionError("building_circle.plots: at most 15 sections")
    if len({offer.asari for offer in edition.lit_offers}) != len(edition.lit_offers):
        raise EditionError("house_of_lighted_windows.offers: two offers of one price")
    if not edition.lit_offers:
        raise EditionError("house_of_lighted_windows.offers: none")
    buyers = sum(edition.buyers)
    for seats, hand in zip((2, 3, 4), edition.hand_sizes, strict=True):
        if seats * hand > buyers:
            raise EditionError(f"hand_size.{seats}: {seats} hands of {hand}, but {buyers} buyers")
    _check_chests(edition)


def _check_chests(edition: Edition) -> None:
    """Every chest stands on a space of its own, of a board that its rule set has."""
    board: dict[Area, Iterable[int]] = {
        **{Area(int(kind)): range(1, edition.market_spaces + 1) for kind in SectionKind},
        Area.BUILDING_CIRCLE: edition.plots,
        Area.BANK: edition.bank,
        Area.HOUSE_OF_SPIES: edition.spies,
        Area.CALIPHS_PATRONAGE: range(1, edition.patronage_spaces + 1),
    }
    taken: set[Space] = set()
    _check_spaces("gifts", edition.chests, board, taken)
    board[Area.TENT] = edition.tent
    board[Area.HOUSE_OF_LIGHTED_WINDOWS] = range(1, edition.lit_spaces + 1)
    _check_spaces("gifts_professional", edition.chests_professional, board, taken)


def _check_spaces(
    table: str, chests: Iterable[Space], board: dict[Area, Iterable[int]], taken: set[Space]
) -> None:
    for index, space in enumerate(chests):
        name = format_space(space)
        where = f"{table}.chests[{index}]"
        if space.area == Area.COLOURED_BUILDING:
            raise EditionError(f"{where}: no chest can stand on {name!r}, which is never occupied")
        if space.number not in board.get(space.area, ()):
            raise EditionError(f"{where}: no space {name!r} on the board of these rules")
        if space in taken:
            raise EditionError(f"{where}: {name!r} has a chest already")
        taken.add(space)
