"""The audit of a replay, which trusts only the owner of the key that signed it.

First, it checks what the file says about itself: frames, chain, signature, commitment. Then the
match is re-simulated by the code that plays matches, and everything has to come out the same. This
includes whose turn it was, which actions were legal, the cost of every decision, and whose time ran
out and when. It also includes scores, ranks, and every byte that was sent to every seat.
"""

import random
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from asara_codec.messages import decision_bytes, rejection_bytes
from asara_codec.results import RejectionReason, Termination
from asara_codec.view_writer import ViewWriter
from asara_game.knowledge.determinize import determinize
from asara_game.state import State
from asara_game.view import view
from asara_server.journal.replay import ReplayError
from asara_server.journal.resimulate import Step, UnsoundError, resimulated, resimulated_steps
from asara_server.match.deal_secrets import secret_of
from asara_server.match.inputs import LateReplyRecord, RejectionRecord, ReplyRecord
from asara_server.replay.file import FormatError, ReplayFile, parse_file
from asara_server.replay.signing import fingerprint


def leak_fault(file: ReplayFile, worlds: int) -> str | None:
    """Return the first record of a sound file after which a message reveals something hidden; None
    if there is none.

    At every decision, everything hidden from a seat is replaced by other possibilities. Everything
    that the seat would receive must stay the same, byte for byte: its view, the decision with the
    legal actions, and the rejection of an illegal reply.

    `worlds` is the number of possibilities tried at each decision. For a given file, they are
    always the same.
    """
    header = file.replay.header
    rng = random.Random(header.deal_secret)
    for number, step in enumerate(resimulated_steps(file.replay)):
        for seat in _leaking(step, len(header.entries), worlds, rng):
            return f"{file.place(number)}: seat {seat} is sent something that is hidden from it"
    return None


def _leaking(step: Step, seats: int, worlds: int, rng: random.Random) -> Iterator[int]:
    """Yield the seats that would receive different messages in another world."""
    state = step.state
    for seat in range(seats):
        seen = view(state, seat)
        if seen.decision is None:  # another seat's turn, sent when it is over
            continue
        true = _messages(state, seat)
        if any(_messages(determinize(seen, rng), seat) != true for _ in range(worlds)):
            yield seat


def _messages(state: State, seat: int) -> tuple[bytes, ...]:
    """Return the messages that the seat would be sent in this state."""
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


class Verdict(NamedTuple):
    """The result of an audit: a fault, or what playing the match again has confirmed."""

    fault: str | None
    """The first wrong record, with the expected and the found value; None if sound."""
    public_key: bytes = b""
    """The key that made the signature; empty if the file could not be read."""
    result_fault: str | None = None
    """The first field of the recorded result that contradicts the replay.

    Like all fields below, it is known only if the replay is sound.
    """
    match_id: str = ""
    replies: int = 0
    rejections: int = 0
    late_replies: int = 0
    forfeits: tuple[tuple[int, Termination], ...] = ()
    """The forfeits, by seat."""
    other_format: bool = False
    """True if the file has another version of the format: `fault` says so, and nothing is known."""


class Expected(Protocol):
    """What a run requires of a replay; each method returns the first fault."""

    def header_fault(self, file: ReplayFile, /) -> str | None: ...

    def changed(self, data: bytes, /) -> str | None: ...

    def result_fault(self, file: ReplayFile, /) -> str | None: ...


def audit(
    data: bytes,
    public_key: bytes | None = None,
    *,
    tournament_secret: bytes | None = None,
    expected: Expected | None = None,
    worlds: int = 0,
) -> Verdict:
    """Check the content of a file that the owner of this key should have signed.

    Without a key, any signature is accepted; `Verdict.public_key` then holds the key that made it.
    With the secret of a tournament, the deal must be derived from it. To find out whether a seat
    received too much, `worlds` other worlds are tried for every seat at every decision.
    """
    try:
        file = parse_file(data)
    except FormatError as error:
        changed = expected.changed(data) if expected is not None else None
        return Verdict(changed or str(error), other_format=changed is None)
    except ReplayError as error:
        return Verdict(str(error))
    signer = file.signature.public_key
    if public_key is not None and signer != public_key:
        other = (
            f"{file.place(-1)}: expected a signature by key {fingerprint(public_key)}; "
            f"found one by key {fingerprint(signer)}: another key signed this file"
        )
        return Verdict(other, signer)
    signature_fault = file.signature_fault()
    fault = expected.header_fault(file) if expected is not None else None
    fault = fault or _secret_fault(file, tournament_secret) or _simulation_fault(file)
    if fault and signature_fault:
        # the first record that does not hold comes before the signature
        return Verdict(f"{fault}; the signature does not hold either", signer)
    fault = fault or signature_fault
    if fault is None and expected is not None and (changed := expected.changed(data)):
        fault = expected.result_fault(file) or changed
    if fault is None and worlds:
        fault = leak_fault(file, worlds)
    if fault is not None:
        return Verdict(fault, signer)
    replay = file.replay
    kinds = Counter(map(type, replay.records))
    return Verdict(
        None,
        signer,
        expected.result_fault(file) if expected else None,
        replay.header.match_id,
        kinds[ReplyRecord],
        kinds[RejectionRecord],
        kinds[LateReplyRecord],
        tuple(
            (seat, end.termination)
            for seat, end in enumerate(replay.ends)
            if end.termination.forfeit
        ),
    )


def _secret_fault(file: ReplayFile, tournament_secret: bytes | None) -> str | None:
    """Return a fault unless the deal's secret is derived from the tournament's secret."""
    if tournament_secret is None:
        return None
    header = file.replay.header
    place = file.place(0)
    deal = header.shared_deal
    if deal and not header.match_id.startswith(f"{deal}-"):
        return f"{place}: expected a match that shares the deal {deal}; found {header.match_id}"
    expected = secret_of(tournament_secret, header.match_id, deal)
    if header.deal_secret == expected:
        return None
    return (
        f"{place}: the deal does not follow from the secret of the tournament: "
        f"expected the match's secret {expected.hex()}, found {header.deal_secret.hex()}"
    )


def _simulation_fault(file: ReplayFile) -> str | None:
    try:
        for _ in resimulated(file.replay):
            pass
    except UnsoundError as error:
        return f"{file.place(error.index + 1)}: {error.fault}"
    return None
