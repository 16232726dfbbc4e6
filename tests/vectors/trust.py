"""Vectors of joint deals and of digests, for clients in every language."""

from hashlib import sha256
from typing import Any

from asara.v1.event_pb2 import Event
from asara.v1.play_pb2 import (
    DealCommitted,
    Decision,
    DecisionKind,
    MatchEnded,
    MatchStarted,
    PlayResponse,
    Rejection,
    RejectionReason,
    SeatResult,
    Update,
)
from asara.v1.vocabulary_pb2 import Action, BuildCount, Edition, RuleSet
from asara.verifier import make_nonce
from asara_game.deal import Deal
from asara_server.match import deal_secrets

ONE, TWO, THREE = bytes(range(32)), bytes(range(32, 64)), bytes(range(1, 33))

SPRING = sha256(b"spring").hexdigest()
SUMMER = sha256(b"summer").hexdigest()

# Seed, name of the match, name of its block if it shares the deal, nonces.
MATCHES = [
    (SPRING, "r1-basic-0001", "", []),
    (SPRING, "r1-pro+gifts-0007.2", "", []),
    (SUMMER, "r2-pro+genie-0042", "", [ONE, TWO]),
    (SUMMER, "m1", "", [b"\xff" * 32, b"", THREE, bytes(32)]),
    (SPRING, "r1-basic-0001-1", "r1-basic-0001", []),
    (SPRING, "r1-basic-0001-2.2", "r1-basic-0001", []),
]
SEATS = [("1", "m1", 0), ("1", "m1", 3), ("tournée ✓", "r1-pro+gifts-0007", 2)]

UNKNOWN = b"\xf8\x7f\x01"
"""A field that a later version of the protocol may add to a message: field 2047 is 1."""


def joint_deals() -> dict[str, Any]:
    """The way from a seed to the order of a shuffle, and nonces that follow from a seed."""
    return {
        "about": [
            "Secrets of deals, as server/README.md derives them. buyers_0_of_20: the order in",
            "which the shuffle buyers/0 of that deal leaves the numbers 0 to 19. All matches of a",
            "shared_deal have one match_secret; where it is empty, the match has its own.",
            "",
            "seeded_nonces: what the clients send where ASARA_SEED is set:",
            "HMAC-SHA256(seed, 'nonce/' match_id '/' seat).",
        ],
        "deals": [_deal(*match) for match in MATCHES],
        "seeded_nonces": [
            {
                "seed": seed,
                "match_id": match_id,
                "seat": seat,
                "nonce": make_nonce(seed, match_id, seat).hex(),
            }
            for seed, match_id, seat in SEATS
        ],
    }


def _deal(seed: str, match_id: str, block: str, nonces: list[bytes]) -> dict[str, Any]:
    tournament = deal_secrets.tournament_secret(seed)
    secret = deal_secrets.secret_of(tournament, match_id, block)
    shared = deal_secrets.deal_secret(secret, nonces)
    order = list(range(20))
    Deal(shared).shuffle("buyers/0", order)
    return {
        "seed": seed,
        "tournament_secret": tournament.hex(),
        "tournament_commitment": deal_secrets.commitment(tournament).hex(),
        "match_id": match_id,
        "shared_deal": block,
        "match_secret": secret.hex(),
        "deal_commitment": deal_secrets.commitment(secret).hex(),
        "nonces": [nonce.hex() for nonce in nonces],
        "deal_secret": shared.hex(),
        "buyers_0_of_20": order,
    }


def digests() -> dict[str, Any]:
    """All messages to a seat in a joint match, and the digest after each."""
    digest = bytes(32)
    steps = []
    for message in _messages():
        digest = sha256(digest + message).digest()
        steps.append({"message": message.hex(), "digest": digest.hex()})
    return {
        "about": [
            "The messages of a match to one seat, and the digest after each: SHA-256 of the digest",
            "before (at first 32 zero bytes) and the message. The fifth message has a field that",
            "no client knows: digests are of bytes as they came, not of what a parser makes.",
        ],
        "match_id": "m1",
        "seat": 1,
        "seed": "1",
        "messages": steps,
    }


def _messages() -> list[bytes]:
    secret = bytes(32)
    commitment = sha256(secret).digest()
    counts = [Action(build_count=BuildCount(count=count)) for count in (1, 2)]
    update = Update(match_id="m1", events=[Event(seat=1, prestige=2)], sequence=5)
    responses = [
        PlayResponse(
            deal_committed=DealCommitted(match_id="m1", seat=1, deal_commitment=commitment)
        ),
        PlayResponse(
            match_started=MatchStarted(
                match_id="m1",
                seat=1,
                seats=2,
                rule_sets=[RuleSet.RULE_SET_BASIC],
                edition=Edition(name="tested", years=4),
                deal_commitment=commitment,
                nonces=[ONE, make_nonce("1", "m1", 1)],
                sequence=3,
            )
        ),
        PlayResponse(
            decision=Decision(
                match_id="m1",
                decision_id=1,
                kind=DecisionKind.DECISION_KIND_BUILD_COUNT,
                legal_actions=counts,
                clock_us=60_500_000,
                events=[Event(seat=0, asari=4)],
                sequence=4,
            )
        ),
        PlayResponse(
            rejection=Rejection(
                match_id="m1",
                decision_id=1,
                reason=RejectionReason.REJECTION_REASON_EMPTY,
                detail="x" * 200,
                legal_actions=counts[:1],
                forgiven=2,
            )
        ),
        PlayResponse(update=update),
        PlayResponse(
            match_ended=MatchEnded(
                match_id="m1",
                sequence=5,
                results=[
                    SeatResult(seat=0, entry="a", rank=1),
                    SeatResult(seat=1, entry="b", rank=2),
                ],
                deal_secret=secret,
            )
        ),
    ]
    return [
        response.SerializeToString() + (UNKNOWN if response.HasField("update") else b"")
        for response in responses
    ]
