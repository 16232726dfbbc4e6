"""Play a replay again, with the engine that played the match."""

from collections.abc import Iterator
from typing import NamedTuple

from asara_game.deal import Deal
from asara_game.engine import apply, new_match
from asara_game.events import Event
from asara_game.state import IllegalAction, State
from asara_server.replay.records import ForfeitRecord, MoveRecord, Record, Replay, ReplayError
from asara_server.results import SeatForfeited


class Step(NamedTuple):
    """One record and what came of it."""

    record: Record | None
    """None for the first step, in which the match was set up."""
    events: tuple[Event | SeatForfeited, ...]
    state: State
    """The state after the record; the one before it is that of the step before."""


def replay_match(replay: Replay) -> Iterator[Step]:
    """Every step of the match; raises ReplayError at the first record that does not hold."""
    header = replay.header
    state, started = new_match(header.rules(), Deal(header.deal_secret))
    yield Step(None, tuple(started), state.copy())
    forfeited: set[int] = set()
    for number, record in enumerate(replay.records, 2):
        events: tuple[Event | SeatForfeited, ...] = ()
        if isinstance(record, MoveRecord):
            events = tuple(_move(state, record, number))
        elif isinstance(record, ForfeitRecord):
            if record.seat in forfeited:
                raise ReplayError(f"record {number}: seat {record.seat} forfeits a second time")
            forfeited.add(record.seat)
            events = (SeatForfeited(record.seat, record.termination),)
        yield Step(record, events, state.copy())
    _check_end(replay, state, forfeited)


def _move(state: State, record: MoveRecord, number: int) -> list[Event]:
    if state.seat != record.seat:
        asked = f"seat {state.seat} was asked" if state.seat >= 0 else "the match was over"
        raise ReplayError(f"record {number}: a move of seat {record.seat}, but {asked}")
    try:
        return apply(state, record.action)
    except IllegalAction as error:
        raise ReplayError(f"record {number}: seat {record.seat}: {error}") from None


def _check_end(replay: Replay, state: State, forfeited: set[int]) -> None:
    last = len(replay.records) + 1
    if state.seat >= 0 and len(forfeited) < len(replay.results) - 1:
        raise ReplayError(f"record {last}: the last one, but seat {state.seat} was still to decide")
    for result in replay.results:
        if result.prestige != state.prestige[result.seat]:
            raise ReplayError(
                f"record {last + 1}: the results give seat {result.seat} {result.prestige} "
                f"prestige, but its moves earned {state.prestige[result.seat]}"
            )
