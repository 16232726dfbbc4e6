"""The edition: the numbers printed on the board and the components, with the source of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

from .actions import format_space, parse_space
from .bounded_toml import parse_toml
from .vocabulary import Area, BuyerColour, Colour, GiftCard, GiftKind, SectionKind, Space

LARGEST_EDITION: Final = 32 * 1024
"""Maximum size of an edition file in bytes, nine times the size of the shipped one."""


class EditionError(ValueError):
    """Raised for an invalid edition file; the message gives the table and key."""


class Award(NamedTuple):
    """Prestige for the first and the second place."""

    first: int
    second: int


class LitOffer(NamedTuple):
    """An offer of the House of Lighted Windows: its price, and the windows drawn and kept."""

    asari: int
    drawn: int
    kept: int


class Source(NamedTuple):
    """The source of one table of the edition, and the table's values as text."""

    table: str
    values: str
    source: str


@dataclass(frozen=True)
class Edition:
    """All numbers of an edition. Tuples by colour begin with BROWN; by buyer colour, with BLUE."""

    name: str
    years: int
    prices: tuple[int, ...]
    """Asari for a section, by colour."""
    tiles: tuple[tuple[tuple[int, int], ...], ...]
    """Number of plain and of gold sections, by kind and colour."""
    lit_windows: tuple[int, ...]
    """Number of lit windows by colour."""
    buyers: tuple[int, ...]
    """Number of buyers by buyer colour."""
    hand_sizes: tuple[int, int, int]
    """Number of buyers dealt to each of 2, 3 and 4 players."""
    starting_asari: tuple[int, ...]
    """By seat."""
    yearly_asari: int
    market_spaces: int
    """Number of spaces in each market."""
    display_size: int
    """Number of sections on a full display."""
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
    """Cards, and the number of each."""
    chests: tuple[Space, ...]
    gifts_professional: tuple[tuple[GiftCard, int], ...]
    chests_professional: tuple[Space, ...]
    colour_awards: tuple[Award, ...]
    highest_award: Award
    most_award: Award
    asari_per_prestige: int
    sources: tuple[Source, ...] = field(default=(), compare=False)
    """One row per table of the file."""
    data: bytes = field(default=b"", compare=False, repr=False)
    """The file, byte for byte."""

    @property
    def sha256(self) -> bytes:
        """SHA-256 of the file. A replay identifies its edition by this digest."""
        return hashlib.sha256(self.data).digest()


def load_edition(path: Path | None = None) -> Edition:
    """Load an edition file, by default the shipped one. Raise EditionError if it is invalid."""
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
    """Parse the bytes of an edition file. Raise EditionError if they are invalid."""
    try:
        raw = parse_toml(data, LARGEST_EDITION)
    except ValueError as error:
        raise EditionError(f"the edition {error}") from None
    root = _Table("", raw)
    edition = _Reader(root).edition(root.text("name"), data)
    root.done()
    _check(edition)
    return edition


_COLOUR_KEYS = [colour.name.lower() for colour in Colour]
_GIFT_KINDS = {kind.name.lower().replace("_", "-"): kind for kind in GiftKind}
_KINDS = {kind.name.lower(): kind for kind in SectionKind}
_LIMIT = 60
"""Maximum value: a larger number is a mistake, and a packed hand has only six bits per colour."""
_SPACES = 8
"""Maximum number of spaces in an area."""


class _Table:
    """A TOML table that tracks which keys were read, and reports keys in error messages."""

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
        """Read the distinct numbers printed on an area's spaces; return them in rising order."""
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
    """Reads the tables of an edition in order, and collects their sources."""

    def __init__(self, root: _Table) -> None:
        self.root = root
        self.table = root
        self.sources: list[Source] = []

    def enter(self, key: str) -> _Table:
        """Begin the next table. Every key of the previous table must have been read."""
        self.leave()
        self.table = self.root.table(key)
        self.table.text("source")
        return self.table

    def leave(self) -> tuple[Source, ...]:
        """Close the last table and return the sources of all tables."""
        if self.table is not self.root:
            self.table.done()
            self.sources.append(_source(self.table))
        return tuple(self.sources)

    def edition(self, name: str, data: bytes) -> Edition:
        """Read all tables, in this order; the first error is raised."""
        enter = self.enter
        return Edition(
            name=name,
            years=enter("years").number("value"),
            prices=_by_colour(enter("prices")),
            tiles=_tiles(enter("tiles")),
            lit_windows=_by_colour(enter("lit_windows"), 0),
            buyers=_by_buyer_colour(enter("buyers")),
            hand_sizes=_hand_sizes(enter("hand_size")),
            starting_asari=enter("starting_asari").numbers("value", 4, 0),
            yearly_asari=enter("yearly_asari").number("value", 0),
            market_spaces=enter("market").number("spaces", most=_SPACES),
            display_size=self.table.number("display"),
            plots=enter("building_circle").distinct("plots"),
            bank=enter("bank").distinct("values"),
            coloured_building=enter("coloured_building").number("income"),
            spies=enter("house_of_spies").distinct("costs"),
            patronage_spaces=enter("caliphs_patronage").number("spaces", most=_SPACES),
            tent=enter("tent").distinct("costs"),
            tent_buyers=self.table.number("buyers"),
            lit_spaces=enter("house_of_lighted_windows").number("spaces", most=_SPACES),
            lit_offers=tuple(map(_offer, self.table.tables("offers"))),
            genie=enter("house_of_the_bottle_genie").distinct("costs"),
            gifts=_gifts(enter("gifts")),
            chests=_chests(self.table),
            gifts_professional=_gifts(enter("gifts_professional")),
            chests_professional=_chests(self.table),
            colour_awards=_colour_awards(enter("awards")),
            highest_award=_award(self.table, "highest_tower"),
            most_award=_award(self.table, "most_towers"),
            asari_per_prestige=self.table.number("asari_per_prestige"),
            sources=self.leave(),
            data=data,
        )


def _source(table: _Table) -> Source:
    name = table.path.removesuffix(".")
    parts = [_describe(name, key, v) for key, v in table.raw.items() if key != "source"]
    return Source(name, "; ".join(parts), table.raw["source"])


def _describe(table: str, key: str, value: Any) -> str:
    """Format one value of a table for people to read."""
    if table == "tiles":
        colours = (
            f"{colour} {plain} + {gold} with gold" for colour, (plain, gold) in value.items()
        )
        return f"{key}: {', '.join(colours)}"
    text = _show(value)
    return (
        text if key in ("value", "values") else f"{_KEYS.get(key, key.replace('_', ' '))}: {text}"
    )


_KEYS: Final = {"asari_per_prestige": "Asari per prestige point", "chests": "chests on the spaces"}
_CARDS: Final = {
    "choose-buyer": "choose a buyer",
    "asari": "{asari} Asari",
    "buy-section": "buy a {section_kind}",
    "prestige": "{prestige} prestige",
    "buy-lit-window": "buy a lit window for {asari} Asari",
}


def _show(value: Any) -> str:
    if isinstance(value, dict) and "count" in value:
        cards = "1 card" if value["count"] == 1 else f"{value['count']} cards"
        return f"{_CARDS[value['kind']].format_map(value)} ({cards})"
    if isinstance(value, dict):
        return "draw {drawn} and keep {kept} for {asari} Asari".format_map(value)
    if isinstance(value, list) and value and isinstance(value[0], dict) and "drawn" in value[0]:
        return ", or ".join(map(_show, value))
    if isinstance(value, list):
        return ", ".join(_show(v) for v in value)
    return str(value)


def _by_colour(table: _Table, least: int = 1) -> tuple[int, ...]:
    return tuple(table.number(key, least) for key in _COLOUR_KEYS)


def _by_buyer_colour(table: _Table) -> tuple[int, ...]:
    return tuple(table.number(colour.name.lower()) for colour in BuyerColour)


def _tiles(table: _Table) -> tuple[tuple[tuple[int, int], ...], ...]:
    return tuple(_tiles_of_kind(table.table(kind.name.lower())) for kind in SectionKind)


def _tiles_of_kind(table: _Table) -> tuple[tuple[int, int], ...]:
    rows = []
    for key in _COLOUR_KEYS:
        plain, gold = table.numbers(key, 2, 0)
        rows.append((plain, gold))
    table.done()
    return tuple(rows)


def _hand_sizes(table: _Table) -> tuple[int, int, int]:
    return (table.number("2"), table.number("3"), table.number("4"))


def _colour_awards(table: _Table) -> tuple[Award, ...]:
    return tuple(_award(table, key) for key in _COLOUR_KEYS)


def _award(table: _Table, key: str) -> Award:
    return Award(*table.numbers(key, 2, 0))


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


def _gifts(table: _Table) -> tuple[tuple[GiftCard, int], ...]:
    cards = []
    for row in table.tables("cards"):
        word = row.text("kind")
        kind = _GIFT_KINDS.get(word)
        if kind is None:
            raise EditionError(f"{row.path}kind: {word!r} is not one of {', '.join(_GIFT_KINDS)}")
        fields: dict[str, Any] = {}
        for key in _GIFT_FIELDS[kind]:
            if key == "section_kind":
                name = row.text(key)
                if name not in _KINDS:
                    kinds = ", ".join(_KINDS)
                    raise EditionError(f"{row.path}{key}: {name!r} is not one of {kinds}")
                fields[key] = _KINDS[name]
            else:
                fields[key] = row.number(key)
        cards.append((GiftCard(kind, **fields), row.number("count")))
        row.done()
    return tuple(cards)


def _chests(table: _Table) -> tuple[Space, ...]:
    texts = table.get("chests")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise EditionError(f"{table.path}chests: not a list of spaces")
    chests = []
    for index, text in enumerate(texts):
        try:
            chests.append(parse_space(text))
        except ValueError as error:
            raise EditionError(f"{table.path}chests[{index}]: {error}") from None
    return tuple(chests)


def _check(edition: Edition) -> None:
    """Raise EditionError if numbers in different tables contradict each other."""
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
    """Raise EditionError unless each chest has its own space on the board of its rule sets."""
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
        path = f"{table}.chests[{index}]"
        if space.area == Area.COLOURED_BUILDING:
            raise EditionError(f"{path}: no chest can stand on {name!r}, which is never occupied")
        if space.number not in board.get(space.area, ()):
            raise EditionError(f"{path}: no space {name!r} on the board of these rules")
        if space in taken:
            raise EditionError(f"{path}: {name!r} has a chest already")
        taken.add(space)
