"""Building: the seat chooses the number of sections, then each step."""

from __future__ import annotations

from typing import Final

from asara_game.actions import Action, BuildCount, ExtendTower, FoundTower, LightWindow
from asara_game.build import build_steps
from asara_game.events import BuildStarted, Event, TowerExtended, TowerFounded, WindowLit
from asara_game.rules import BUILD_COUNTS, SpaceInfo
from asara_game.state import NOT_COUNTED, State, lit_index, unbuilt_index
from asara_game.turns import buildable_counts, end_turn
from asara_game.vocabulary import DecisionKind, Section, SectionKind, Tower, section_index


def plot_counts(state: State, plot: SpaceInfo, wished: bool) -> list[int]:
    """Numbers of sections the seat can build on a plot. A wish allows only one (ruling R13)."""
    numbers = buildable_counts(state, state.seat)
    free = state.free_spaces[plot.area]
    allowed = [plot.cost] if wished else state.rules.plot_counts(plot, free)
    return [count for count in allowed if numbers >> count & 1]


def count_options(state: State) -> list[Action]:
    """Return the counts to choose from. A wish allows only one, so no decision is needed."""
    return [BUILD_COUNTS[count] for count in plot_counts(state, state.space, False)]


def start_build(state: State, action: BuildCount, events: list[Event]) -> None:
    info = state.space
    seat = state.seat
    state.money[seat] -= info.cost
    state.sections_to_build = count = action.count
    events.append(BuildStarted(seat, count, -info.cost))
    _ask_step(state, events)


def _ask_step(state: State, events: list[Event]) -> None:
    """Ask for the next step, or end the turn after the last step."""
    if not state.sections_to_build:
        state.buildable_counts[state.seat] = NOT_COUNTED
        state.build_steps = ()
        end_turn(state, events)
        return
    state.kind = DecisionKind.BUILD
    state.legal = step_options(state)


def step_options(state: State) -> list[Action]:
    seat = state.seat
    return build_steps(
        state.unbuilt_of(seat),
        state.lit_held_by(seat),
        state.towers[seat],
        state.build_steps,
        state.sections_to_build,
    )


def build_step(state: State, action: Action, events: list[Event]) -> None:
    seat = state.seat
    if type(action) is FoundTower:
        sections = 2
        events.append(_found(state, seat, action))
    elif type(action) is ExtendTower:
        sections = 1
        events.append(_extend(state, seat, action))
    else:
        assert isinstance(action, LightWindow)
        sections = 1
        events.append(_light(state, seat, action))
    state.prestige[seat] += sections
    state.sections_to_build -= sections
    state.build_steps += (action,)
    _ask_step(state, events)


def _found(state: State, seat: int, action: FoundTower) -> Event:
    colour, base_gold, turret_gold = action.colour, action.base_gold, action.turret_gold
    _use(state, seat, Section(SectionKind.BASE, colour, base_gold))
    _use(state, seat, Section(SectionKind.TURRET, colour, turret_gold))
    tower = Tower(colour, base_gold, turret_gold)
    state.towers[seat] = (*state.towers[seat], tower)
    return TowerFounded(seat, len(state.towers[seat]), tower, 0, 2)


_MIDDLES: Final = {
    (SectionKind.TRUNK, False): "plain_trunks",
    (SectionKind.TRUNK, True): "gold_trunks",
    (SectionKind.WINDOW, False): "plain_windows",
    (SectionKind.WINDOW, True): "gold_windows",
}
"""The field of a tower that counts these sections."""


def _extend(state: State, seat: int, action: ExtendTower) -> Event:
    section = action.section
    _use(state, seat, section)
    if section.kind == SectionKind.WINDOW:
        state.unlit_windows[lit_index(seat, section.colour)] += 1
    _add_to_tower(state, seat, action.tower, _MIDDLES[section.kind, section.gold])
    return TowerExtended(seat, action.tower, section, 0, 1)


def _light(state: State, seat: int, action: LightWindow) -> Event:
    at = lit_index(seat, state.towers[seat][action.tower - 1].colour)
    state.lit_held[at] -= 1
    state.unlit_windows[at] -= 1
    _add_to_tower(state, seat, action.tower, "lit_gold" if action.gold else "lit_plain")
    return WindowLit(seat, action.tower, action.gold, 0, 1)


def _use(state: State, seat: int, section: Section) -> None:
    """Remove a section from the seat's unbuilt sections."""
    state.unbuilt[unbuilt_index(seat, section_index(section))] -= 1


def _add_to_tower(state: State, seat: int, number: int, field: str) -> None:
    """Add one to a count of a tower."""
    towers = list(state.towers[seat])
    tower = towers[number - 1]
    towers[number - 1] = tower._replace(**{field: getattr(tower, field) + 1})
    state.towers[seat] = tuple(towers)
