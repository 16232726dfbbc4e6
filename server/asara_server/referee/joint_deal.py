"""Joint deals: every bot contributes a nonce to the deal before the match begins.

First, the bots receive the commitment to the referee's secret. Nobody receives another bot's nonce
until the match begins. A bot that sends no nonce in time forfeits, and the deal is made without its
nonce.
"""

from dataclasses import replace

from asara_codec.messages import deal_committed_bytes, match_ended_bytes
from asara_codec.results import Termination
from asara_server.match import deal_secrets
from asara_server.match.inputs import Absence
from asara_server.referee.hosted import HostedMatch
from asara_server.referee.stream_errors import ErrorKind, StreamError


def ask_for_nonces(hosted: HostedMatch) -> None:
    """Send the commitment to all bots; from now on, their nonces are due."""
    hosted.committed = True
    for seat in range(len(hosted.bots)):
        ask_for_nonce(hosted, seat)


def ask_for_nonce(hosted: HostedMatch, seat: int) -> None:
    """Send the commitment to a seat's bot if its nonce is due, for example after a reconnection."""
    session = hosted.bots[seat].session
    due = hosted.committed and hosted.match is None and seat not in hosted.absent
    if due and seat not in hosted.nonces and session is not None:
        spec = hosted.spec
        session.send(
            deal_committed_bytes(match_id=spec.match_id, seat=seat, deal_commitment=spec.commitment)
        )


def accept_nonce(hosted: HostedMatch, seat: int, nonce: bytes) -> None:
    """Store a bot's nonce; raise StreamError if it is not due or has the wrong length."""
    match_id = hosted.spec.match_id
    if not hosted.committed:
        raise StreamError(ErrorKind.NONCE, f"match {match_id} asks for no nonce")
    if seat in hosted.nonces:
        raise StreamError(ErrorKind.NONCE, f"a second nonce for match {match_id}")
    if len(nonce) != deal_secrets.BYTES:
        detail = f"a nonce of {len(nonce)} bytes for match {match_id}; it has {deal_secrets.BYTES}"
        raise StreamError(ErrorKind.NONCE, detail)
    hosted.nonces[seat] = nonce


def unready_seats(hosted: HostedMatch) -> list[int]:
    """Return the seats whose nonces are missing or whose bots have disconnected again."""
    return [
        seat
        for seat, bot in enumerate(hosted.bots)
        if seat not in hosted.absent and (seat not in hosted.nonces or bot.session is None)
    ]


def no_nonce(hosted: HostedMatch) -> Absence:
    """Return the absence of a bot that sent no nonce in time."""
    within = f"within {hosted.spec.clocks.start_up_s:g} s"
    return Absence(Termination.NEVER_STARTED, f"sent no nonce {within}")


def close_deal(hosted: HostedMatch) -> None:
    """Fix the deal: store the nonces in the spec by seat, empty for a seat that sent none."""
    nonces = tuple(hosted.nonces.get(seat, b"") for seat in range(len(hosted.bots)))
    hosted.spec = replace(hosted.spec, nonces=nonces)


def call_off(hosted: HostedMatch) -> None:
    """Send MatchEnded (void) to bots that were asked for nonces, as no match will follow."""
    message = match_ended_bytes(
        match_id=hosted.spec.match_id,
        events=(),
        sequence=0,
        results=(),
        deal_secret=b"",
        void=True,
    )
    for seat, bot in enumerate(hosted.bots):
        if seat not in hosted.absent and bot.session is not None:
            bot.session.send(message)
