"""Numbers for all actions, fixed for all rule sets and numbers of seats.

Spaces, plots and offers are numbered by their position on the board, not by their printed number.
If an edition corrects a printed number, no action number changes. Towers are numbered by colour:
the first tower of a colour that a seat founded, the second, and so on. The number of an action on a
tower therefore depends on the acting seat's towers, which are public. The argument `seen`, a state
or a view, supplies these towers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from asara_game import (
    Action,
    BuildCount,
    ChooseBuyer,
    ChooseSpace,
    Decline,
    Edition,
    ExtendTower,
    FoundTower,
    KeepLitWindows,
    LayBuyers,
    LightWindow,
    PayOffer,
    ReturnLitWindow,
    Rules,
    SearchPile,
    State,
    TakeSection,
    View,
    Wish,
    parse_rule_sets,
)
from asara_game.vocabulary import (
    COLOURS,
    MIDDLE_KINDS,
    SECTION_TYPES,
    Area,
    BuyerColour,
    Section,
    SectionKind,
    Space,
    Tower,
)

__all__ = [
    "ACTION_COUNT",
    "ACTION_RANGES",
    "AREA_SIZES",
    "SPACE_COUNT",
    "ActionNumbers",
    "ActionRange",
    "UnsupportedEdition",
    "action_of",
    "legal_numbers",
    "mask",
    "number_of",
    "numbering",
]

Mask = npt.NDArray[np.bool_]

AREA_SIZES: Final = (0, 4, 4, 4, 4, 7, 4, 1, 2, 1, 3, 3, 3)
"""Number of spaces by area, on the board of all rule sets; index 0 is unused."""
SPACE_COUNT: Final = sum(AREA_SIZES)
FIRST_SPACES: Final = tuple(sum(AREA_SIZES[:area]) for area in range(len(AREA_SIZES)))
"""Number of the first space of each area."""
TOWERS_PER_COLOUR: Final = 4
"""Maximum towers of one colour: there are four bases and four turrets of each colour."""
OFFER_COUNT: Final = 2
"""Maximum number of offers in the House of Lighted Windows."""
CHEST_COUNT: Final = 6
"""Maximum number of chests, with the rule sets `pro` and `gifts`."""
LIT_WINDOW_COUNT: Final = 15
"""Maximum number of lit windows in the stack."""

_NO_WISH: Final = (Area.CALIPHS_PATRONAGE, Area.HOUSE_OF_THE_BOTTLE_GENIE)
_FIRST_SPACE_ONLY: Final = (*map(Area, SectionKind), Area.HOUSE_OF_LIGHTED_WINDOWS)
"""Areas for which a wish can only choose the space with the lowest number (ruling R21)."""


class UnsupportedEdition(ValueError):
    """Raised if an edition has more of something than the action numbers and observations cover."""


class ActionRange(NamedTuple):
    """A range of action numbers that covers one class of actions."""

    action: type[Action]
    first: int
    size: int
    order: str
    """Parts of an action that the numbers run through; the last part varies fastest."""


def _ranges() -> Iterator[ActionRange]:
    towers = f"colour, tower of that colour (1 to {TOWERS_PER_COLOUR})"
    counted: tuple[tuple[type[Action], int, str], ...] = (
        (ChooseSpace, SPACE_COUNT, "area, position"),
        (LayBuyers, 25, "5 face up, 5 face down, 15 pairs, by buyer colour"),
        (TakeSection, len(SECTION_TYPES), "kind, colour, plain or gold"),
        (Decline, 1, ""),
        (BuildCount, AREA_SIZES[Area.BUILDING_CIRCLE], "position of the plot of that number"),
        (FoundTower, 20, "colour, base plain or gold, turret plain or gold"),
        (ExtendTower, 20 * TOWERS_PER_COLOUR, f"{towers}, trunk or window, plain or gold"),
        (LightWindow, 10 * TOWERS_PER_COLOUR, f"{towers}, plain or gold"),
        (SearchPile, 4, "kind"),
        (PayOffer, OFFER_COUNT, "price, rising"),
        (KeepLitWindows, 20, "5 single windows, 15 pairs, by colour"),
        (Wish, len(_wish_positions()), "area, position"),
        (ChooseBuyer, 5, "buyer colour"),
        (ReturnLitWindow, 5, "colour"),
    )
    first = 0
    for action, count, order in counted:
        yield ActionRange(action, first, count, order)
        first += count


def _wish_positions() -> list[tuple[Area, int]]:
    """Return the area and position of each space that a wish can choose."""
    return [
        (area, position)
        for area in Area
        if area not in _NO_WISH
        for position in range(1 if area in _FIRST_SPACE_ONLY else AREA_SIZES[area])
    ]


ACTION_RANGES: Final = tuple(_ranges())
"""All ranges in rising order, without gaps."""
ACTION_COUNT: Final = sum(found.size for found in ACTION_RANGES)
_FIRST: Final = {found.action: found.first for found in ACTION_RANGES}
_EXTEND: Final = _FIRST[ExtendTower]
_LIGHT: Final = _FIRST[LightWindow]
_AFTER_TOWERS: Final = _LIGHT + 10 * TOWERS_PER_COLOUR


class ActionNumbers:
    """The actions of an edition by number. Use the shared instance from `numbering(edition)`.

    Raises UnsupportedEdition if the edition is larger than the table.
    """

    def __init__(self, edition: Edition) -> None:
        check_edition(edition)
        rules = Rules(edition, parse_rule_sets("pro+gifts+genie"), 4)
        self._edition = edition.name
        self.spaces: dict[Space, int] = {
            info.space: FIRST_SPACES[info.area] + info.position for info in rules.spaces
        }
        """Number of each space of the board, from 0 to SPACE_COUNT - 1."""
        self.chests: dict[Space, int] = {
            space: index
            for index, space in enumerate((*edition.chests, *edition.chests_professional))
        }
        """Number of each space with a chest."""
        self._actions: dict[int, Action] = dict(self._fixed(rules))
        self._numbers: dict[Action, int] = {a: number for number, a in self._actions.items()}

    def _fixed(self, rules: Rules) -> Iterator[tuple[int, Action]]:
        """Yield each action that does not involve a tower, with its number."""
        edition = rules.edition
        colours = list(combinations_with_replacement(COLOURS, 2))
        buyers = list(combinations_with_replacement(BuyerColour, 2))
        wishes = {place: number for number, place in enumerate(_wish_positions())}
        for info in rules.spaces:
            yield self.spaces[info.space], info.choose
            number = wishes.get((Area(info.area), info.position))
            if number is not None:
                yield _FIRST[Wish] + number, info.wish
        yield _FIRST[Decline], Decline()
        lists: tuple[tuple[type[Action], Sequence[Action]], ...] = (
            (LayBuyers, [LayBuyers((b,), down) for down in (False, True) for b in BuyerColour]),
            (TakeSection, [TakeSection(section) for section in SECTION_TYPES]),
            (BuildCount, [BuildCount(plot) for plot in edition.plots]),
            (
                FoundTower,
                [FoundTower(c, b, t) for c in COLOURS for b in _PLAIN_GOLD for t in _PLAIN_GOLD],
            ),
            (SearchPile, [SearchPile(kind) for kind in SectionKind]),
            (PayOffer, [PayOffer(asari) for asari in sorted(o.asari for o in edition.lit_offers)]),
            (KeepLitWindows, [KeepLitWindows((colour,)) for colour in COLOURS]),
            (ChooseBuyer, [ChooseBuyer(buyer) for buyer in BuyerColour]),
            (ReturnLitWindow, [ReturnLitWindow(colour) for colour in COLOURS]),
        )
        for action, members in lists:
            yield from enumerate(members, _FIRST[action])
        yield from enumerate((LayBuyers(p, True) for p in buyers), _FIRST[LayBuyers] + 10)
        yield from enumerate(map(KeepLitWindows, colours), _FIRST[KeepLitWindows] + 5)

    def number_of(self, action: Action, towers: Sequence[Tower]) -> int:
        """Return the number of an action, for a seat with these towers.

        Raise ValueError if the action has no number because its space or tower does not exist.
        """
        number = self._numbers.get(action)
        if number is not None:
            return number
        if not isinstance(action, ExtendTower | LightWindow):
            raise ValueError(f"'{action}' has no number in edition {self._edition!r}")
        if not 1 <= action.tower <= len(towers):
            raise ValueError(f"'{action}' has no number: the seat has {len(towers)} towers")
        return _on_tower(action, towers)

    def action_of(self, number: Any, towers: Sequence[Tower]) -> Action:
        """Return the action with this number, for a seat with these towers; inverse of `number_of`.

        NumPy integers are accepted. Raise ValueError if the number is not from 0 to ACTION_COUNT -
        1, or has no meaning in this edition or for these towers.
        """
        action = self._actions.get(number)
        if action is not None:
            return action
        if not isinstance(number, int | np.integer):
            raise ValueError(f"action number {number!r}: not a whole number")
        if not 0 <= number < ACTION_COUNT:
            raise ValueError(f"action number {number}: not one of 0 to {ACTION_COUNT - 1}")
        if not _EXTEND <= number < _AFTER_TOWERS:
            raise ValueError(f"action number {number}: this edition has no such action")
        return _with_tower(int(number), towers)

    def legal_numbers(self, legal: Sequence[Action], towers: Sequence[Tower]) -> list[int]:
        """Return the numbers of a list of legal actions, in the same order."""
        numbers = self._numbers
        try:
            return [numbers[action] for action in legal]
        except KeyError:  # the step of a build
            return [self.number_of(action, towers) for action in legal]


_PLAIN_GOLD: Final = (False, True)


def _on_tower(action: ExtendTower | LightWindow, towers: Sequence[Tower]) -> int:
    colour = towers[action.tower - 1][0]
    rank = 0
    for tower in towers[: action.tower - 1]:
        rank += tower[0] == colour
    slot = (colour - 1) * TOWERS_PER_COLOUR + rank
    if isinstance(action, LightWindow):
        return _LIGHT + slot * 2 + action.gold
    kind, of_section, gold = action.section
    if of_section != colour or kind not in MIDDLE_KINDS:
        raise ValueError(f"'{action}' has no number: tower {action.tower} has another colour")
    return _EXTEND + slot * 4 + (kind - 2) * 2 + gold


def _with_tower(number: int, towers: Sequence[Tower]) -> Action:
    lights = number >= _LIGHT
    slot, detail = divmod(number - (_LIGHT if lights else _EXTEND), 2 if lights else 4)
    index, rank = divmod(slot, TOWERS_PER_COLOUR)
    colour = COLOURS[index]
    of_colour = [n for n, tower in enumerate(towers, 1) if tower.colour == colour]
    if rank >= len(of_colour):
        raise ValueError(
            f"action number {number}: needs tower {rank + 1} of colour {colour.name.lower()}; "
            f"the seat has {len(of_colour)}"
        )
    if lights:
        return LightWindow(of_colour[rank], bool(detail))
    section = Section(MIDDLE_KINDS[detail >> 1], colour, bool(detail & 1))
    return ExtendTower(of_colour[rank], section)


def check_edition(edition: Edition) -> None:
    """Raise UnsupportedEdition if an edition is too large; the message tells why."""
    area = {
        Area.BUILDING_CIRCLE: edition.plots,
        Area.BANK: edition.bank,
        Area.HOUSE_OF_SPIES: edition.spies,
        Area.TENT: edition.tent,
        Area.HOUSE_OF_THE_BOTTLE_GENIE: edition.genie,
    }
    sizes = {
        "spaces in a market": (edition.market_spaces, AREA_SIZES[Area.BASE_MARKET]),
        "spaces of the caliph's patronage": (
            edition.patronage_spaces,
            AREA_SIZES[Area.CALIPHS_PATRONAGE],
        ),
        "spaces in the House of Lighted Windows": (
            edition.lit_spaces,
            AREA_SIZES[Area.HOUSE_OF_LIGHTED_WINDOWS],
        ),
        "offers for lit windows": (len(edition.lit_offers), OFFER_COUNT),
        "chests": (len(edition.chests) + len(edition.chests_professional), CHEST_COUNT),
        "lit windows": (sum(edition.lit_windows), LIT_WINDOW_COUNT),
    }
    for place, spaces in area.items():
        name = place.name.lower().replace("_", " ")
        sizes[f"spaces in area '{name}'"] = (len(spaces), AREA_SIZES[place])
    bases, _, _, turrets = edition.tiles
    for colour, base, turret in zip(COLOURS, bases, turrets, strict=True):
        most = min(sum(base), sum(turret))
        sizes[f"towers of colour {colour.name.lower()}"] = (most, TOWERS_PER_COLOUR)
    for what, (has, most) in sizes.items():
        if has > most:
            raise UnsupportedEdition(
                f"edition {edition.name!r} has {has} {what}; environments have numbers for {most}"
            )


_MOST_EDITIONS: Final = 64
_by_id: dict[int, tuple[Edition, ActionNumbers]] = {}
"""The editions met so far, by identity: hashing an edition takes longer than numbering a list."""


def numbering(edition: Edition) -> ActionNumbers:
    """Return the action numbers of an edition. Raise UnsupportedEdition if it is too large."""
    found = _by_id.get(id(edition))
    if found is None:
        if len(_by_id) >= _MOST_EDITIONS:
            _by_id.clear()
        found = _by_id[id(edition)] = (edition, _made(edition))
    return found[1]


@lru_cache(_MOST_EDITIONS)
def _made(edition: Edition) -> ActionNumbers:
    return ActionNumbers(edition)


def _towers(seen: State | View) -> Sequence[Tower]:
    """Return the towers of the deciding seat of a state, or of the seat of a view."""
    if isinstance(seen, View):
        return seen.public.seats[seen.private.seat].towers
    return seen.towers[seen.seat] if seen.seat >= 0 else ()


def number_of(action: Action, seen: State | View) -> int:
    """Return the number of an action of the deciding seat. Raise ValueError if it has none."""
    return numbering(seen.rules.edition).number_of(action, _towers(seen))


def action_of(number: Any, seen: State | View) -> Action:
    """Return the deciding seat's action with this number. Raise ValueError if there is none.

    The action is not necessarily legal.
    """
    return numbering(seen.rules.edition).action_of(number, _towers(seen))


def legal_numbers(seen: State | View) -> list[int]:
    """Return the numbers of the legal actions, in the order of `seen.legal`."""
    return numbering(seen.rules.edition).legal_numbers(seen.legal, _towers(seen))


def mask(seen: State | View) -> Mask:
    """Return an array of ACTION_COUNT bools: True for the legal actions.

    Raise ValueError if no action is legal because the match is over or another seat decides.
    """
    if not seen.legal:
        where = f"seat {seen.private.seat} does not decide" if isinstance(seen, View) else ""
        raise ValueError(f"no mask: {where or 'the match is over'}")
    found = np.zeros(ACTION_COUNT, np.bool_)
    found[legal_numbers(seen)] = True
    return found
