"""Whether a seat was told anything that depends on what was hidden from it, in a match as played.

At every decision the hidden part of the table is replaced by others that the seat cannot tell from
it. What the seat would be sent then has to be the same, byte for byte: its view, the question and
the legal actions, and what it would be told of a reply that is not legal.
"""

import random
from collections.abc import Iterator

from asara_codec.messages import decision_bytes, rejection_bytes
from asara_codec.results import RejectionReason
from asara_codec.view_writer import ViewWriter
from asara_game.determinize import determinize
from asara_game.state import State
from asara_game.view import view
from asara_server.eventlog.header import ReplayError
from asara_server.eventlog.resimulate import Step, resimulated_steps
from asara_server.replay.file import ReplayFile


def leak_fault(file: ReplayFile, worlds: int) -> str | None:
    """The first record after which a seat could have learned more than it may; None if it nowhere
    could. So many other worlds are tried each time; the same ones for the same file.
    """
    header = file.replay.header
    rng = random.Random(header.deal_secret)
    try:
        for number, step in enumerate(resimulated_steps(file.replay)):
            for seat in _leaking(step, len(header.entries), worlds, rng):
                place = file.raw[number].place
                return f"{place}: seat {seat} is told something that it may not know"
    except ReplayError as error:
        return str(error)
    return None


def _leaking(step: Step, seats: int, worlds: int, rng: random.Random) -> Iterator[int]:
    """Seats that hear something else in another world."""
    state = step.state
    for seat in range(seats):
        seen = view(state, seat)
        if seen.decision is None:  # what goes on within another's turn, it hears at its end
            continue
        true = _heard(state, seat)
        for _ in range(worlds):
            if _heard(determinize(seen, rng), seat) != true:
                yield seat
                break


def _heard(state: State, seat: int) -> tuple[bytes, ...]:
    """What the seat would be sent now."""
    seen = view(state, seat)
    if state.seat != seat:
        return (ViewWriter().view(seen),)
    asked = decision_bytes(
        match_id="m",
        decision_id=1,
        view=seen,
        events=(),
        sequence=1,
        clock_us=1,
        charged_us=1,
    )
    refused = rejection_bytes(
        match_id="m",
        decision_id=1,
        reason=RejectionReason.ILLEGAL_ACTION,
        detail="",
        legal=seen.legal,
        clock_us=1,
        forgiven=1,
    )
    return asked, refused
