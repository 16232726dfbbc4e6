"""Building towers: how many sections can be built, and the steps of a build.

Steps have a canonical order, so each result of a build can be reached in only one way. New towers
come first, by colour and gold. Sections and lit windows follow, by colour, kind, gold and tower. A
step is offered only if the build can still reach its exact number of sections afterwards.

A set of numbers of sections is stored as an int: bit n is set if n is in the set. Colours count
from 0 in this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .actions import Action, ExtendTower, FoundTower, LightWindow
from .vocabulary import COLOURS, MIDDLE_KINDS, Section, SectionKind, Tower, section_index

MOST: Final = 15
"""Maximum number of sections to consider: no plot has a larger number."""
_ALL: Final = (1 << MOST + 1) - 1
_LIT: Final = 99
"""Position of lit windows in the canonical order: after the sections of their colour."""

_FOUNDS: Final = tuple(
    tuple(FoundTower(colour, base, turret) for base in (False, True) for turret in (False, True))
    for colour in COLOURS
)
"""By colour: the four forms of a new tower, as `_pairs` numbers them."""
_MIDDLES: Final = tuple(
    tuple(Section(kind, colour, gold) for kind in MIDDLE_KINDS for gold in (False, True))
    for colour in COLOURS
)
"""By colour: the sections that extend a tower, in canonical order."""
_MIDDLE_INDICES: Final = tuple(tuple(map(section_index, sections)) for sections in _MIDDLES)


def add_sets(a: int, b: int) -> int:
    """Return all sums of one number from set `a` and one from set `b` that are at most MOST."""
    sums = 0
    while a:
        if a & 1:
            sums |= b
        a >>= 1
        b <<= 1
    return sums & _ALL


def colour_set(founds: int, middles: int, standing: bool, lights: int) -> int:
    """Return the set of numbers of sections that can be built in one colour.

    The arguments are upper limits: new towers, trunks and windows, and lit windows. Trunks and
    windows need a tower that already stands or is founded in this build.
    """
    singles = (2 << middles) - 1
    found = singles if standing else 1
    for n in range(1, founds + 1):
        found |= singles << 2 * n
    for _ in range(lights):
        found |= found << 1
    return found & _ALL


def buildable(
    unbuilt: Sequence[int],
    lit_held: Sequence[int],
    unlit_windows: Sequence[int],
    towers: Sequence[Tower],
) -> int:
    """Return the set of numbers of sections that a seat could build now; 0 is always included.

    `unbuilt` has the order of SECTION_TYPES; `lit_held` and `unlit_windows` are by colour.
    """
    standing = 0
    for tower in towers:
        standing |= 1 << tower[0]
    total = 1
    for colour in range(5):
        at = colour * 2  # SECTION_TYPES has ten types of each kind
        bases = unbuilt[at] + unbuilt[at + 1]
        turrets = unbuilt[at + 30] + unbuilt[at + 31]
        founds = bases if bases < turrets else turrets
        stands = standing >> colour + 1 & 1
        if not (founds or stands):
            continue
        middles = _middles(unbuilt, at)
        lights = min(lit_held[colour], unlit_windows[colour])
        numbers = colour_set(founds, middles, bool(stands), lights)
        total = numbers if total == 1 else add_sets(total, numbers)
    return total


def _ends(unbuilt: Sequence[int], at: int) -> tuple[int, int, int, int]:
    """Counts of plain and gold bases and turrets; `at` is the index of the plain bases."""
    return unbuilt[at], unbuilt[at + 1], unbuilt[at + 30], unbuilt[at + 31]


def _middles(unbuilt: Sequence[int], at: int) -> int:
    """Count of trunks and windows; `at` is the index of the plain bases of the same colour."""
    return unbuilt[at + 10] + unbuilt[at + 11] + unbuilt[at + 20] + unbuilt[at + 21]


def _pairs(b0: int, b1: int, u0: int, u1: int, form: int) -> int:
    """Return how many towers these bases and turrets can found, using forms from `form` on.

    The forms, as base-turret, are 0 plain-plain, 1 plain-gold, 2 gold-plain and 3 gold-gold.
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
    unbuilt: Sequence[int],
    lit_held: Sequence[int],
    towers: Sequence[Tower],
    done: Sequence[Action],
    remaining: int,
) -> list[Action]:
    """Return the possible next steps of a build, after `done`, with `remaining` sections to go."""
    last = done[-1] if done else None
    steps: list[Action] = []
    if last is None or isinstance(last, FoundTower):
        if remaining >= 2:
            _found_steps(steps, unbuilt, lit_held, towers, last, remaining)
        last = None
    _single_steps(steps, unbuilt, lit_held, towers, done, last, remaining)
    return steps


def _found_steps(
    steps: list[Action],
    unbuilt: Sequence[int],
    lit_held: Sequence[int],
    towers: Sequence[Tower],
    last: FoundTower | None,
    remaining: int,
) -> None:
    """Append the towers that may be founded next: those at or after `last` in canonical order."""
    standing = 0
    unlit = [0] * 5
    for tower in towers:
        standing |= 1 << tower.colour - 1
        unlit[tower.colour - 1] += tower.unlit_windows
    lights = [min(lit_held[colour], unlit[colour]) for colour in range(5)]
    middles = [_middles(unbuilt, colour * 2) for colour in range(5)]
    first = last.colour - 1 if last else 0
    # Colours below the one founded now can only be extended, those above found as well.
    below = 1
    above = [1] * 6
    for colour in range(4, -1, -1):
        b0, b1, u0, u1 = _ends(unbuilt, colour * 2)
        numbers = colour_set(
            min(b0 + b1, u0 + u1), middles[colour], bool(standing >> colour & 1), lights[colour]
        )
        above[colour] = add_sets(above[colour + 1], numbers)
    for colour in range(5):
        stands = bool(standing >> colour & 1)
        if colour >= first:
            b0, b1, u0, u1 = _ends(unbuilt, colour * 2)
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


def _single_steps(
    steps: list[Action],
    unbuilt: Sequence[int],
    lit_held: Sequence[int],
    towers: Sequence[Tower],
    done: Sequence[Action],
    last: Action | None,
    remaining: int,
) -> None:
    """Append the single-section steps at or after `last` that still allow placing `remaining`.

    A group is one kind of section together with the towers it can extend, or all windows of one
    colour that can be lit. Groups are collected from last to first. Each group's `room` is the
    number of sections that can be placed in this group and the later ones.
    """
    floor = _place(last, towers) if last is not None else (-1,)
    fresh = [step for step in done if isinstance(step, ExtendTower)]
    room = 0
    groups: list[list[Action]] = []
    for colour in range(4, -1, -1):
        own = [n for n, tower in enumerate(towers, 1) if tower[0] == colour + 1]
        if not own:
            continue
        held = lit_held[colour]
        if held:
            capacity = 0
            group: list[Action] = []
            for count, light in reversed(_targets(own, towers, fresh)):
                capacity += count
                if room + min(held, capacity) >= remaining and _place(light, towers) >= floor:
                    group.append(light)
            groups.append(group)
            room += min(held, capacity)
        indices = _MIDDLE_INDICES[colour]
        for middle in range(3, -1, -1):
            count = unbuilt[indices[middle]]
            if count:
                room += count
                if room >= remaining:
                    section = _MIDDLES[colour][middle]
                    group = [ExtendTower(n, section) for n in reversed(own)]
                    if floor[0] >= 0:
                        group = [step for step in group if _place(step, towers) >= floor]
                    groups.append(group)
    for group in reversed(groups):
        steps.extend(reversed(group))


def _place(step: Action, towers: Sequence[Tower]) -> tuple[int, ...]:
    """Position of a single-section step in canonical order: colour, kind and gold, tower."""
    if isinstance(step, ExtendTower):
        section = step.section
        return (section.colour, section.kind * 2 + section.gold, step.tower, 0)
    assert isinstance(step, LightWindow)
    return (towers[step.tower - 1][0], _LIT, step.tower, step.gold)


def _targets(
    own: list[int], towers: Sequence[Tower], fresh: list[ExtendTower]
) -> list[tuple[int, LightWindow]]:
    """Return the steps that light a window, each with the number of windows it applies to.

    Windows built in this same build cannot be lit (ruling R5).
    """
    targets = []
    for number in own:
        tower = towers[number - 1]
        for gold in (False, True):
            windows = tower.gold_windows if gold else tower.plain_windows
            unlit = windows - (tower.lit_gold if gold else tower.lit_plain)
            for step in fresh:
                if step.tower == number and step.section.kind == SectionKind.WINDOW:
                    unlit -= step.section.gold == gold
            if unlit:
                targets.append((unlit, LightWindow(number, gold)))
    return targets
