"""Building towers: which numbers of sections can be built, and the steps of a build.

Steps come in a canonical order, so that builds that end alike are one path: towers are founded
first, by colour and gold; then sections and lit windows by colour, kind, gold and tower. Only steps
from which the exact number can still be reached are offered. A set of numbers is an int with bit n
for n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .actions import Action, ExtendTower, FoundTower, LightWindow
from .vocabulary import COLOURS, Section, SectionKind, Tower

#: Numbers of sections above this never matter: no plot is larger.
MOST: Final = 15
_ALL: Final = (1 << MOST + 1) - 1
#: Lit windows come after the sections of their colour.
_LIT: Final = 99

_sums: dict[int, int] = {}
_colour_sets: dict[int, int] = {}


def add_sets(a: int, b: int) -> int:
    """All sums of a number of `a` and a number of `b`, up to MOST."""
    key = a << 16 | b
    found = _sums.get(key)
    if found is None:
        found = 0
        for n in range(MOST + 1):
            if a >> n & 1:
                found |= b << n
        found &= _ALL
        _sums[key] = found
    return found


def colour_set(founds: int, middles: int, standing: bool, lights: int) -> int:
    """Numbers of sections that can be built in one colour.

    `founds` towers at most, `middles` trunks and windows (only where a tower stands or is founded),
    `lights` lit windows.
    """
    if middles > MOST:
        middles = MOST
    key = founds << 13 | middles << 9 | lights << 1 | standing
    found = _colour_sets.get(key)
    if found is None:
        singles = (2 << middles) - 1
        found = singles if standing else 1
        for n in range(1, founds + 1):
            found |= singles << 2 * n
        found = add_sets(found & _ALL, ((2 << lights) - 1) & _ALL)
        _colour_sets[key] = found
    return found


def reachable(
    stock: Sequence[int], lit: Sequence[int], bare: Sequence[int], towers: Sequence[Tower]
) -> int:
    """Numbers of sections that a seat could build now (bit 0 is set).

    `stock` has 40 counts by colour, kind, gold; `lit` and `bare` five by colour: lit windows held,
    and standing windows that they could cover.
    """
    standing = 0
    for tower in towers:
        standing |= 1 << tower[0]
    total = 1
    for colour in range(5):
        at = colour * 8
        bases = stock[at] + stock[at + 1]
        turrets = stock[at + 6] + stock[at + 7]
        founds = bases if bases < turrets else turrets
        stands = standing >> colour + 1 & 1
        if not (founds or stands):
            continue
        middles = stock[at + 2] + stock[at + 3] + stock[at + 4] + stock[at + 5]
        lights = min(lit[colour], bare[colour])
        numbers = colour_set(founds, middles, bool(stands), lights)
        total = numbers if total == 1 else add_sets(total, numbers)
    return total


_FOUNDS: Final = tuple(
    tuple(FoundTower(colour, base, turret) for base in (False, True) for turret in (False, True))
    for colour in COLOURS
)
_MIDDLES: Final = tuple(
    tuple(
        Section(kind, colour, gold)
        for kind in (SectionKind.TRUNK, SectionKind.WINDOW)
        for gold in (False, True)
    )
    for colour in COLOURS
)


def _pairs(b0: int, b1: int, u0: int, u1: int, form: int) -> int:
    """Towers that can be founded from these bases and turrets by forms from `form` on.

    Forms are plain-plain, plain-gold, gold-plain, gold-gold (base-turret).
    """
    if form == 0:
        return min(b0 + b1, u0 + u1)
    if form == 1:
        crossed = min(b0, u1)
        return crossed + min(b1, u0 + u1 - crossed)
    if form == 2:
        return min(b1, u0 + u1)
    return min(b1, u1)


def build_steps(
    stock: Sequence[int],
    lit: Sequence[int],
    towers: Sequence[Tower],
    done: Sequence[Action],
    remaining: int,
) -> list[Action]:
    """The next steps of a build that has `remaining` sections to go, after the steps `done`."""
    last = done[-1] if done else None
    steps: list[Action] = []
    if last is None or isinstance(last, FoundTower):
        if remaining >= 2:
            _found_steps(steps, stock, lit, towers, last, remaining)
        last = None
    _single_steps(steps, stock, lit, towers, done, last, remaining)
    return steps


def _found_steps(
    steps: list[Action],
    stock: Sequence[int],
    lit: Sequence[int],
    towers: Sequence[Tower],
    last: FoundTower | None,
    remaining: int,
) -> None:
    standing = 0
    bare = [0] * 5
    for tower in towers:
        standing |= 1 << tower.colour - 1
        bare[tower.colour - 1] += (
            tower.plain_windows + tower.gold_windows - tower.lit_plain - tower.lit_gold
        )
    lights = [min(lit[colour], bare[colour]) for colour in range(5)]
    middles = [sum(stock[colour * 8 + 2 : colour * 8 + 6]) for colour in range(5)]
    first = last.colour - 1 if last else 0
    # Colours below the one founded now can only be extended, those above found as well.
    below = 1
    above = [1] * 6
    for colour in range(4, -1, -1):
        b0, b1, u0, u1 = _ends(stock, colour)
        numbers = colour_set(
            min(b0 + b1, u0 + u1), middles[colour], bool(standing >> colour & 1), lights[colour]
        )
        above[colour] = add_sets(above[colour + 1], numbers)
    for colour in range(5):
        stands = bool(standing >> colour & 1)
        if colour >= first:
            b0, b1, u0, u1 = _ends(stock, colour)
            lowest = last.base_gold * 2 + last.turret_gold if last and colour == first else 0
            for form in range(lowest, 4):
                base, turret = form >> 1, form & 1
                if not (b1 if base else b0) or not (u1 if turret else u0):
                    continue
                founds = _pairs(b0 - (not base), b1 - base, u0 - (not turret), u1 - turret, form)
                here = colour_set(founds, middles[colour], True, lights[colour])
                rest = add_sets(add_sets(below, here), above[colour + 1])
                if rest >> remaining - 2 & 1:
                    steps.append(_FOUNDS[colour][form])
        below = add_sets(below, colour_set(0, middles[colour], stands, lights[colour]))


def _ends(stock: Sequence[int], colour: int) -> tuple[int, int, int, int]:
    """Plain and gold bases, plain and gold turrets."""
    at = colour * 8
    return stock[at], stock[at + 1], stock[at + 6], stock[at + 7]


def _single_steps(
    steps: list[Action],
    stock: Sequence[int],
    lit: Sequence[int],
    towers: Sequence[Tower],
    done: Sequence[Action],
    last: Action | None,
    remaining: int,
) -> None:
    """Steps of one section at or after `last`, from which `remaining` can be placed.

    A group is one kind of section with the towers it can go to: how many can be placed at this
    target or a later one of the group, the step's place in the canonical order, and the step.
    """
    floor = _place(last, towers) if last is not None else (-1,)
    fresh = [step for step in done if isinstance(step, ExtendTower)]
    room = 0  # what can be placed in later groups
    groups: list[list[Action]] = []
    for colour in range(4, -1, -1):
        own = [n for n, tower in enumerate(towers, 1) if tower[0] == colour + 1]
        if not own:
            continue
        held = lit[colour]
        if held:
            capacity = 0
            group: list[Action] = []
            for count, light in reversed(_targets(own, towers, fresh)):
                capacity += count
                if room + min(held, capacity) >= remaining and _place(light, towers) >= floor:
                    group.append(light)
            groups.append(group)
            room += min(held, capacity)
        at = colour * 8 + 2
        for offset in range(3, -1, -1):
            count = stock[at + offset]
            if count:
                room += count
                if room >= remaining:
                    section = _MIDDLES[colour][offset]
                    group = [ExtendTower(n, section) for n in reversed(own)]
                    if floor[0] >= 0:
                        group = [step for step in group if _place(step, towers) >= floor]
                    groups.append(group)
    for group in reversed(groups):
        steps.extend(reversed(group))


def _place(step: Action, towers: Sequence[Tower]) -> tuple[int, ...]:
    """Where a step of one section stands in the canonical order: colour, kind, tower, gold."""
    if isinstance(step, ExtendTower):
        section = step.section
        return (section.colour, section.kind * 2 + section.gold, step.tower, 0)
    assert isinstance(step, LightWindow)
    return (towers[step.tower - 1][0], _LIT, step.tower, step.gold)


def _targets(
    own: list[int], towers: Sequence[Tower], fresh: list[ExtendTower]
) -> list[tuple[int, LightWindow]]:
    """Windows that may be covered: how many, and the step; none built in this build (RULES R5)."""
    targets = []
    for number in own:
        tower = towers[number - 1]
        for gold in (False, True):
            windows = tower.gold_windows if gold else tower.plain_windows
            bare = windows - (tower.lit_gold if gold else tower.lit_plain)
            for step in fresh:
                if step.tower == number and step.section.kind == SectionKind.WINDOW:
                    bare -= step.section.gold == gold
            if bare:
                targets.append((bare, LightWindow(number, gold)))
    return targets
