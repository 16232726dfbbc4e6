"""Where the secret of a deal comes from, so that nobody can choose a deal and anybody can check it.

All secrets, commitments and nonces have 32 bytes; texts are UTF-8; || joins bytes.

    T = HMAC-SHA256(seed, "asara/tournament/deals")     of a tournament; `seed` as run.json has it
    S = HMAC-SHA256(T, "match/" || match_id)            of a match with a deal of its own, or
    S = HMAC-SHA256(T, "block/" || block)               of all matches of a mirrored block
    D = S                                               what the shuffles come from, or
    D = HMAC-SHA256(S, "joint/" || N0 || N1 || ...)     where every bot adds a nonce, by seat

A seat that sent no nonce counts as 32 zero bytes. How the shuffles come from D is told in
`asara_game.deal`.

`block` is the name of the block, such as "r1-basic-0007", and `match_id` that of the match as it
was played, such as "r1-basic-0007-1", or "r1-basic-0007-1.2" where it was played again. So a match
that is played again has another deal, unless its block is mirrored: then it keeps the block's.

SHA-256(T) is published before the first match of a tournament, and T once all are played.
SHA-256(S) is told to all bots before the match, and S at its end. With nonces it is told before any
bot sends its own, and no bot hears another's before its own is in: who chose S could not foresee
the nonces, and who chose a nonce knew neither S nor the others. Against an organiser who plays
along with one of the bots, and lets it choose its nonce last, no nonce of the others helps.

In a mirrored block SHA-256(S) is told before each match and S after none: it is the deal of
matches that are still to come. The replays hold it. All matches of the block tell the same
SHA-256(S), which lets them be linked. So does the table itself, whose open display is the same in
all of them at the start, and the names of the matches. It tells nothing more, and shows afterwards
that the referee was bound to one deal.

`tests/vectors/joint_deal.json` has examples of each line.
"""

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final

BYTES: Final = 32
"""Of every secret, commitment and nonce."""

_NO_NONCE: Final = bytes(BYTES)


def tournament_secret(seed: str) -> bytes:
    """T: what all deals of a tournament come from."""
    return _hmac(seed.encode(), b"asara/tournament/deals")


def match_secret(tournament: bytes, match_id: str) -> bytes:
    """S: what the deal of one match comes from, which no other has."""
    return _hmac(tournament, b"match/" + match_id.encode())


def block_secret(tournament: bytes, block: str) -> bytes:
    """S: what the deal of all matches of a mirrored block comes from, played again or not."""
    return _hmac(tournament, b"block/" + block.encode())


def secret_of(tournament: bytes, match_id: str, mirrored_block: str = "") -> bytes:
    """S of a match; `mirrored_block` is empty where it has a deal of its own."""
    if mirrored_block:
        return block_secret(tournament, mirrored_block)
    return match_secret(tournament, match_id)


def commitment(secret: bytes) -> bytes:
    """What binds to a secret without telling it."""
    return hashlib.sha256(secret).digest()


def deal_secret(secret: bytes, nonces: Sequence[bytes] = ()) -> bytes:
    """D: what the shuffles of a match come from.

    Nonces by seat, empty for a seat that sent none; without any entry the deal is not joint.
    Raises ValueError for a secret or a nonce of another length.
    """
    if len(secret) != BYTES:
        raise ValueError(f"the secret of the deal has {len(secret)} bytes, not {BYTES}")
    if not nonces:
        return secret
    for seat, nonce in enumerate(nonces):
        if len(nonce) not in (0, BYTES):
            raise ValueError(f"the nonce of seat {seat} has {len(nonce)} bytes, not {BYTES}")
    return _hmac(secret, b"joint/" + b"".join(nonce or _NO_NONCE for nonce in nonces))


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, hashlib.sha256)
