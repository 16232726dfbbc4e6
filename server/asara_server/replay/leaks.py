"""Search of a match for messages that depend on what is hidden from their seat.

At every decision, everything hidden from a seat is replaced by other possibilities. What the seat
would be sent then has to stay the same, byte for byte: its view, the decision with the legal
actions, and the rejection of an illegal reply.
"""

import random
from collections.abc import Iterator

from asara_codec.messages import decision_bytes, rejection_bytes
from asara_codec.results import RejectionReason
from asara_codec.view_writer import ViewWriter
from asara_game.determinize import determinize
from asara_game.state import State
from asara_game.view import view
from asara_server.eventlog.replay import ReplayError
from asara_server.eventlog.resimulate import Step, resimulated_steps
from asara_server.replay.file import ReplayFile


def leak_fault(file: ReplayFile, worlds: int) -> str | None:
    """Return the first record after which a message reveals something; None if there is none.

    `worlds` is the number of other possibilities tried each time, the same ones for the same file.
    """
    header = file.replay.header
    rng = random.Random(header.deal_secret)
    try:
        for number, step in enumerate(resimulated_steps(file.replay)):
            for seat in _leaking(step, len(header.entries), worlds, rng):
                place = file.raw[number].place
                return f"{place}: seat {seat} is sent something that is hidden from it"
    except ReplayError as error:
        return str(error)
    return None


def _leaking(step: Step, seats: int, worlds: int, rng: random.Random) -> Iterator[int]:
    """Yield the seats that would be sent other messages in another world."""
    state = step.state
    for seat in range(seats):
        seen = view(state, seat)
        if seen.decision is None:  # another seat's turn, sent when it is over
            continue
        true = _messages(state, seat)
        for _ in range(worlds):
            if _messages(determinize(seen, rng), seat) != true:
                yield seat
                break


def _messages(state: State, seat: int) -> tuple[bytes, ...]:
    """Return what the seat would be sent in this state."""
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
