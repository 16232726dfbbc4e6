"""The short text form of an action, which replays and the referee's logs also use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from asara.v1.vocabulary_pb2 import (
    Action,
    Area,
    BuildCount,
    BuyerColour,
    ChooseBuyer,
    ChooseSpace,
    Colour,
    Decline,
    ExtendTower,
    FoundTower,
    KeepLitWindows,
    LayBuyers,
    LightWindow,
    PayOffer,
    ReturnLitWindow,
    SearchPile,
    Section,
    SectionKind,
    Space,
    TakeSection,
    Wish,
)

_LONGEST_NUMBER = 4  # digits

_E = TypeVar("_E", bound=int)


def _words(prefix: str, members: Iterable[tuple[str, int]]) -> dict[int, str]:
    return {number: name.removeprefix(prefix).lower() for name, number in members}


_AREA_WORDS = {
    Area.AREA_BASE_MARKET: "base-market",
    Area.AREA_TRUNK_MARKET: "trunk-market",
    Area.AREA_WINDOW_MARKET: "window-market",
    Area.AREA_TURRET_MARKET: "turret-market",
    Area.AREA_BUILDING_CIRCLE: "circle",
    Area.AREA_BANK: "bank",
    Area.AREA_COLOURED_BUILDING: "coloured-building",
    Area.AREA_HOUSE_OF_SPIES: "spies",
    Area.AREA_CALIPHS_PATRONAGE: "patronage",
    Area.AREA_TENT: "tent",
    Area.AREA_HOUSE_OF_LIGHTED_WINDOWS: "lit-windows",
    Area.AREA_HOUSE_OF_THE_BOTTLE_GENIE: "genie",
}
_COLOUR_WORDS = _words("COLOUR_", Colour.items())
_BUYER_WORDS = _words("BUYER_COLOUR_", BuyerColour.items())
_KIND_WORDS = _words("SECTION_KIND_", SectionKind.items())


def _values(words: Mapping[Any, str]) -> dict[str, Any]:
    return {word: number for number, word in words.items() if number}


_AREAS: dict[str, Area] = _values(_AREA_WORDS)
_COLOURS: dict[str, Colour] = _values(_COLOUR_WORDS)
_BUYERS: dict[str, BuyerColour] = _values(_BUYER_WORDS)
_KINDS: dict[str, SectionKind] = _values(_KIND_WORDS)


def format_action(action: Action) -> str:
    """Return the text of an action, such as `dispatch bank 12` or `take red trunk gold`.

    An action with no member set becomes `no action`. Enum values unknown to this version become
    numbers. This function never raises, so it is safe in logging calls.
    """
    match action.WhichOneof("action"):
        case "choose_space":
            return f"dispatch {_space(action.choose_space.space)}"
        case "lay_buyers":
            lay = action.lay_buyers
            return " ".join(["lay", *map(_buyer, lay.buyers)]) + _flag(lay.face_down, "face-down")
        case "take_section":
            return f"take {_section(action.take_section.section)}"
        case "decline":
            return "decline"
        case "build_count":
            return f"build {action.build_count.count}"
        case "found_tower":
            found = action.found_tower
            gold = _flag(found.base_gold, "gold-base") + _flag(found.turret_gold, "gold-turret")
            return f"found {_colour(found.colour)}{gold}"
        case "extend_tower":
            extend = action.extend_tower
            return f"extend {extend.tower} {_section(extend.section)}"
        case "light_window":
            light = action.light_window
            return f"light {light.tower}{_flag(light.gold, 'gold')}"
        case "search_pile":
            return f"search {_kind(action.search_pile.kind)}"
        case "pay_offer":
            return f"pay {action.pay_offer.asari}"
        case "keep_lit_windows":
            return " ".join(["keep", *map(_colour, action.keep_lit_windows.colours)])
        case "wish":
            return f"wish {_space(action.wish.space)}"
        case "choose_buyer":
            return f"choose {_buyer(action.choose_buyer.buyer)}"
        case "return_lit_window":
            return f"return {_colour(action.return_lit_window.colour)}"
    return "no action"


def _space(space: Space) -> str:
    return f"{_AREA_WORDS.get(space.area, str(int(space.area)))} {space.number}"


def _section(section: Section) -> str:
    return f"{_colour(section.colour)} {_kind(section.kind)}{_flag(section.gold, 'gold')}"


def _flag(value: bool, word: str) -> str:
    return f" {word}" if value else ""


def _colour(number: int) -> str:
    return _COLOUR_WORDS.get(number, str(number))


def _buyer(number: int) -> str:
    return _BUYER_WORDS.get(number, str(number))


def _kind(number: int) -> str:
    return _KIND_WORDS.get(number, str(number))


def parse_action(text: str) -> Action:
    """Parse the text form of an action; the inverse of `format_action`.

    Raises ValueError for any other text, with the word that is wrong.
    """
    words = text.split()
    verb = words.pop(0) if words else ""
    parser = _PARSERS.get(verb)
    if parser is None:
        raise ValueError(f"action {text!r}: no verb {verb!r}; one of {', '.join(_PARSERS)}")
    try:
        action = parser(words)
    except ValueError as error:
        raise ValueError(f"action {text!r}: {error}") from None
    if words:
        raise ValueError(f"action {text!r}: unexpected {words[0]!r}")
    canonical = format_action(action)
    if canonical != " ".join(text.split()):
        raise ValueError(f"action {text!r}: not in canonical form; write {canonical!r}")
    return action


# Parsers remove the words that they read from the front of the list.


def _take(values: Mapping[str, _E], what: str, words: list[str]) -> _E:
    word = words.pop(0) if words else ""
    if word not in values:
        names = ", ".join(values)
        raise ValueError(f"no {what} {word!r}; one of {names}" if word else f"a {what} is missing")
    return values[word]


def _take_number(words: list[str], what: str = "a number") -> int:
    word = words.pop(0) if words else ""
    if not (word.isascii() and word.isdecimal() and len(word) <= _LONGEST_NUMBER):
        raise ValueError(f"{word!r} is not {what}" if word else f"{what} is missing")
    return int(word)


def _take_flag(word: str, words: list[str]) -> bool:
    found = words[:1] == [word]
    del words[: int(found)]
    return found


def _take_colour(words: list[str]) -> Colour:
    return _take(_COLOURS, "colour", words)


def _take_space(words: list[str]) -> Space:
    area = _take(_AREAS, "area", words)
    return Space(area=area, number=_take_number(words, "the number of a space"))


def _take_section(words: list[str]) -> Section:
    colour = _take_colour(words)
    return Section(
        colour=colour,
        kind=_take(_KINDS, "section kind", words),
        gold=_take_flag("gold", words),
    )


def _dispatch(words: list[str]) -> Action:
    return Action(choose_space=ChooseSpace(space=_take_space(words)))


def _lay(words: list[str]) -> Action:
    buyers = []
    while words and words[0] != "face-down":
        buyers.append(_take(_BUYERS, "buyer", words))
    face_down = _take_flag("face-down", words)
    if not 1 <= len(buyers) <= 1 + face_down:
        raise ValueError("lay one buyer, or two face-down")
    return Action(lay_buyers=LayBuyers(buyers=sorted(buyers), face_down=face_down))


def _found(words: list[str]) -> Action:
    colour = _take_colour(words)
    found = FoundTower(
        colour=colour,
        base_gold=_take_flag("gold-base", words),
        turret_gold=_take_flag("gold-turret", words),
    )
    return Action(found_tower=found)


def _extend(words: list[str]) -> Action:
    tower = _take_number(words)
    return Action(extend_tower=ExtendTower(tower=tower, section=_take_section(words)))


def _light(words: list[str]) -> Action:
    tower = _take_number(words)
    return Action(light_window=LightWindow(tower=tower, gold=_take_flag("gold", words)))


def _keep(words: list[str]) -> Action:
    colours = [_take_colour(words)]
    while words:
        colours.append(_take_colour(words))
    return Action(keep_lit_windows=KeepLitWindows(colours=sorted(colours)))


def _search(words: list[str]) -> Action:
    return Action(search_pile=SearchPile(kind=_take(_KINDS, "section kind", words)))


def _choose(words: list[str]) -> Action:
    return Action(choose_buyer=ChooseBuyer(buyer=_take(_BUYERS, "buyer", words)))


_PARSERS: dict[str, Callable[[list[str]], Action]] = {
    "dispatch": _dispatch,
    "lay": _lay,
    "take": lambda words: Action(take_section=TakeSection(section=_take_section(words))),
    "decline": lambda words: Action(decline=Decline()),
    "build": lambda words: Action(build_count=BuildCount(count=_take_number(words))),
    "found": _found,
    "extend": _extend,
    "light": _light,
    "search": _search,
    "pay": lambda words: Action(pay_offer=PayOffer(asari=_take_number(words))),
    "keep": _keep,
    "wish": lambda words: Action(wish=Wish(space=_take_space(words))),
    "choose": _choose,
    "return": lambda words: Action(return_lit_window=ReturnLitWindow(colour=_take_colour(words))),
}
