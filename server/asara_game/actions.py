"""Actions: the answers to decisions, with a short text form.

Actions are interned: two actions with the same fields are the same object, so comparing actions
means comparing pointers. `str(action)` and `parse_action` are inverse functions. Replays, logs,
tests and error messages all use this text form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, TypeVar, cast

from .vocabulary import Area, BuyerColour, Colour, Section, SectionKind, Space


class _Interned(type):
    """Metaclass that makes equal actions one object; arguments may be given by keyword.

    `functools.cache` around the constructor would make playouts 4 % slower.
    """

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._pool: dict[tuple[Any, ...], Any] = {}

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            names = cast("Any", cls).__match_args__[len(args) :]
            args += tuple(kwargs.pop(name) for name in names if name in kwargs)
            if kwargs:
                raise TypeError(f"{cls.__name__}: unexpected {sorted(kwargs)}")
        found = cls._pool.get(args)
        if found is None:
            found = cls._pool[args] = type.__call__(cls, *args)
        return found


class _Base(metaclass=_Interned):
    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor and its arguments, for copies and pickles."""
        names = cast("Any", self).__match_args__
        return type(self), tuple(getattr(self, name) for name in names)


@dataclass(frozen=True, slots=True, eq=False)
class ChooseSpace(_Base):
    """Dispatch to a space. The next decision chooses the buyers to lay there."""

    space: Space

    def __str__(self) -> str:
        return f"dispatch {format_space(self.space)}"


@dataclass(frozen=True, slots=True, eq=False)
class LayBuyers(_Base):
    """Lay one buyer face up, or two face down. The colours are in rising order."""

    buyers: tuple[BuyerColour, ...]
    face_down: bool

    def __str__(self) -> str:
        tail = ("face-down",) if self.face_down else ()
        return " ".join(("lay", *(_word(buyer) for buyer in self.buyers), *tail))


@dataclass(frozen=True, slots=True, eq=False)
class TakeSection(_Base):
    """Buy a section from the display or the searched pile."""

    section: Section

    def __str__(self) -> str:
        return f"take {format_section(self.section)}"


@dataclass(frozen=True, slots=True, eq=False)
class Decline(_Base):
    """Forgo an optional move (ruling R3)."""

    def __str__(self) -> str:
        return "decline"


@dataclass(frozen=True, slots=True, eq=False)
class BuildCount(_Base):
    """Choose the number of sections to build on the plot."""

    count: int

    def __str__(self) -> str:
        return f"build {self.count}"


@dataclass(frozen=True, slots=True, eq=False)
class FoundTower(_Base):
    """Found a new tower by building a base and a turret."""

    colour: Colour
    base_gold: bool
    turret_gold: bool

    def __str__(self) -> str:
        base = ("gold-base",) if self.base_gold else ()
        turret = ("gold-turret",) if self.turret_gold else ()
        return " ".join(("found", _word(self.colour), *base, *turret))


@dataclass(frozen=True, slots=True, eq=False)
class ExtendTower(_Base):
    """Add a trunk or window to one of the seat's towers, given by its number."""

    tower: int
    section: Section

    def __str__(self) -> str:
        return f"extend {self.tower} {format_section(self.section)}"


@dataclass(frozen=True, slots=True, eq=False)
class LightWindow(_Base):
    """Cover a window in one of the seat's towers, given by its number, with a lit window."""

    tower: int
    gold: bool

    def __str__(self) -> str:
        return f"light {self.tower} gold" if self.gold else f"light {self.tower}"


@dataclass(frozen=True, slots=True, eq=False)
class SearchPile(_Base):
    """Search the face-down pile of one kind of section."""

    kind: SectionKind

    def __str__(self) -> str:
        return f"search {_word(self.kind)}"


@dataclass(frozen=True, slots=True, eq=False)
class PayOffer(_Base):
    """Accept the offer of the House of Lighted Windows with this price."""

    asari: int

    def __str__(self) -> str:
        return f"pay {self.asari}"


@dataclass(frozen=True, slots=True, eq=False)
class KeepLitWindows(_Base):
    """Keep drawn lit windows of these colours, listed in rising order."""

    colours: tuple[Colour, ...]

    def __str__(self) -> str:
        return " ".join(("keep", *(_word(colour) for colour in self.colours)))


@dataclass(frozen=True, slots=True, eq=False)
class ReturnLitWindow(_Base):
    """Return a drawn lit window to the stack, below the windows already returned."""

    colour: Colour

    def __str__(self) -> str:
        return f"return {_word(self.colour)}"


@dataclass(frozen=True, slots=True, eq=False)
class Wish(_Base):
    """Wish for the move of a space, which the genie grants."""

    space: Space

    def __str__(self) -> str:
        return f"wish {format_space(self.space)}"


@dataclass(frozen=True, slots=True, eq=False)
class ChooseBuyer(_Base):
    """Choose a buyer of this colour from the pile, using a gift card."""

    buyer: BuyerColour

    def __str__(self) -> str:
        return f"choose {_word(self.buyer)}"


Action = (
    ChooseSpace
    | LayBuyers
    | TakeSection
    | Decline
    | BuildCount
    | FoundTower
    | ExtendTower
    | LightWindow
    | SearchPile
    | PayOffer
    | KeepLitWindows
    | Wish
    | ChooseBuyer
    | ReturnLitWindow
)

_AREA_WORDS: Final = {
    Area.BASE_MARKET: "base-market",
    Area.TRUNK_MARKET: "trunk-market",
    Area.WINDOW_MARKET: "window-market",
    Area.TURRET_MARKET: "turret-market",
    Area.BUILDING_CIRCLE: "circle",
    Area.BANK: "bank",
    Area.COLOURED_BUILDING: "coloured-building",
    Area.HOUSE_OF_SPIES: "spies",
    Area.CALIPHS_PATRONAGE: "patronage",
    Area.TENT: "tent",
    Area.HOUSE_OF_LIGHTED_WINDOWS: "lit-windows",
    Area.HOUSE_OF_THE_BOTTLE_GENIE: "genie",
}
_AREAS: Final = {word: area for area, word in _AREA_WORDS.items()}


def _word(member: IntEnum) -> str:
    return member.name.lower()


def format_space(space: Space) -> str:
    """Return the text form of a space, such as `bank 12`."""
    return f"{_AREA_WORDS[space.area]} {space.number}"


def format_section(section: Section) -> str:
    """Return the text form of a section, such as `red trunk gold`."""
    gold = " gold" if section.gold else ""
    return f"{_word(section.colour)} {_word(section.kind)}{gold}"


def parse_action(text: str) -> Action:
    """Parse the text form of an action. ValueError reports the word that is wrong."""
    words = iter(text.split())
    verb = next(words, "")
    parser = _PARSERS.get(verb)
    if parser is None:
        raise ValueError(f"action {text!r}: no verb {verb!r}; one of {', '.join(_PARSERS)}")
    try:
        action = parser(words)
    except ValueError as error:
        raise ValueError(f"action {text!r}: {error}") from None
    rest = next(words, None)
    if rest is not None:
        raise ValueError(f"action {text!r}: unexpected {rest!r}")
    if str(action) != " ".join(text.split()):
        raise ValueError(f"action {text!r}: not in canonical form; write {str(action)!r}")
    return action


def parse_space(text: str) -> Space:
    """Parse the text form of a space. Raise ValueError for any other text."""
    words = iter(text.split())
    space = _space(words)
    if next(words, None) is not None:
        raise ValueError(f"{text!r}: write an area and a number")
    return space


_E = TypeVar("_E", bound=IntEnum)


def _member(enum: type[_E], words: Iterator[str]) -> _E:
    word = next(words, "")
    for member in enum:
        if _word(member) == word:
            return member
    names = ", ".join(_word(member) for member in enum)
    raise ValueError(f"{word!r} is not one of {names}" if word else f"one of {names} is missing")


def _number(words: Iterator[str], what: str = "a number") -> int:
    word = next(words, "")
    if not (word.isascii() and word.isdigit() and len(word) <= 4):
        raise ValueError(f"{word!r} is not {what}" if word else f"{what} is missing")
    return int(word)


def _space(words: Iterator[str]) -> Space:
    word = next(words, "")
    if word not in _AREAS:
        raise ValueError(f"no area {word!r}; one of {', '.join(_AREAS)}")
    return Space(_AREAS[word], _number(words, "the number of a space"))


def _flag(words: Iterator[str], name: str) -> bool:
    word = next(words, None)
    if word not in (None, name):
        raise ValueError(f"unexpected {word!r}")
    return word is not None


def _section(words: Iterator[str]) -> Section:
    colour = _member(Colour, words)
    return Section(_member(SectionKind, words), colour, _flag(words, "gold"))


def _lay(words: Iterator[str]) -> LayBuyers:
    names = list(words)
    face_down = names[-1:] == ["face-down"]
    buyers = tuple(_member(BuyerColour, iter([n])) for n in names[: len(names) - face_down])
    if not 1 <= len(buyers) <= 2 or (len(buyers) == 2 and not face_down):
        raise ValueError("lay one buyer, or two face-down")
    return LayBuyers(tuple(sorted(buyers)), face_down)


def _found(words: Iterator[str]) -> FoundTower:
    colour = _member(Colour, words)
    rest = list(words)
    for word in rest:
        if word not in ("gold-base", "gold-turret"):
            raise ValueError(f"unexpected {word!r}")
    return FoundTower(colour, "gold-base" in rest, "gold-turret" in rest)


def _extend(words: Iterator[str]) -> ExtendTower:
    tower = _number(words)
    return ExtendTower(tower, _section(words))


def _light(words: Iterator[str]) -> LightWindow:
    tower = _number(words)
    return LightWindow(tower, _flag(words, "gold"))


def _keep(words: Iterator[str]) -> KeepLitWindows:
    colours = tuple(sorted(_member(Colour, iter([word])) for word in words))
    if not colours:
        raise ValueError("a colour is missing")
    return KeepLitWindows(colours)


_PARSERS: Final[dict[str, Callable[[Iterator[str]], Action]]] = {
    "dispatch": lambda words: ChooseSpace(_space(words)),
    "lay": _lay,
    "take": lambda words: TakeSection(_section(words)),
    "decline": lambda words: Decline(),
    "build": lambda words: BuildCount(_number(words)),
    "found": _found,
    "extend": _extend,
    "light": _light,
    "search": lambda words: SearchPile(_member(SectionKind, words)),
    "pay": lambda words: PayOffer(_number(words)),
    "keep": _keep,
    "wish": lambda words: Wish(_space(words)),
    "choose": lambda words: ChooseBuyer(_member(BuyerColour, words)),
    "return": lambda words: ReturnLitWindow(_member(Colour, words)),
}
