"""The short text form of an action, which replays and the referee's logs also use."""

from __future__ import annotations

from collections.abc import Iterable

from asara.v1.vocabulary_pb2 import Action, Area, BuyerColour, Colour, Section, SectionKind, Space


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


def format_action(action: Action) -> str:
    """Return the text of an action, such as `dispatch bank 12` or `take red trunk gold`.

    An action with no member set reads `no action`; enum values unknown to this version read as
    numbers. Never raises, so that it is safe in a log line.
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
