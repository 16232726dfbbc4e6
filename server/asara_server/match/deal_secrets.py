"""Derivation of a deal's secret, so that nobody can choose a deal and everybody can check it.

All secrets, commitments and nonces have 32 bytes; texts are UTF-8; || joins bytes.

    T = HMAC-SHA256(seed, "asara/tournament/deals")     of a tournament; `seed` as in run.json
    ASARA_SEED from HMAC-SHA256(seed, "asara/tournament/bot/" || entry), its first 63 bits
    S = HMAC-SHA256(T, "match/" || match_id)            of a match whose deal no other match has, or
    S = HMAC-SHA256(T, "block/" || shared_deal)         of all matches that share a deal
    D = S                                               source of the shuffles, or
    D = HMAC-SHA256(S, "joint/" || N0 || N1 || ...)     if every bot adds a nonce, by seat

The seed is a text of 64 hexadecimal digits, 256 random bits. Bots receive values derived from it:
ASARA_SEED, commitments and, after most matches, S. None of them leads to a deal that is still
secret, because the labels differ and no search finds a random seed. Hundreds of thousands of weaker
seeds can be tried out in a second.

A seat that sent no nonce counts as 32 zero bytes. `asara_game.deal` describes how the shuffles are
derived from D, and `README.md` in this folder what is published when, and what it proves. If a deal
is shared, S is never sent, because other matches with the same deal may be running or still to
come; only the replays contain it.

`tests/vectors/joint_deal.json` has examples of each line.
"""

import hashlib
import hmac
import re
import secrets
import zlib
from collections.abc import Sequence
from typing import Final

BYTES: Final = 32
"""Length of every secret, commitment and nonce."""

_NO_NONCE: Final = bytes(BYTES)


def tournament_secret(seed: str) -> bytes:
    """Return T, the source of all deals of a tournament."""
    return _hmac(seed.encode(), b"asara/tournament/deals")


def secret_of(tournament: bytes, match_id: str, shared_deal: str = "") -> bytes:
    """Return S of a match; `shared_deal` is empty if no other match has its deal."""
    label = f"block/{shared_deal}" if shared_deal else f"match/{match_id}"
    return _hmac(tournament, label.encode())


def commitment(secret: bytes) -> bytes:
    """Return the hash that binds the referee to a secret without revealing it."""
    return hashlib.sha256(secret).digest()


def deal_secret(secret: bytes, nonces: Sequence[bytes] = ()) -> bytes:
    """Return D, the source of the shuffles of a match.

    Nonces are by seat, empty for a seat that sent none. Without any nonce, the deal is not joint.
    Raises ValueError for a secret or a nonce of the wrong length.
    """
    if len(secret) != BYTES:
        raise ValueError(f"the secret of the deal has {len(secret)} bytes, not {BYTES}")
    if not nonces:
        return secret
    for seat, nonce in enumerate(nonces):
        if len(nonce) not in (0, BYTES):
            raise ValueError(f"the nonce of seat {seat} has {len(nonce)} bytes, not {BYTES}")
    return _hmac(secret, b"joint/" + b"".join(nonce or _NO_NONCE for nonce in nonces))


def bot_seed(seed: str, entry: str) -> int:
    """Return the 63-bit seed of an entry's bots; a strong `seed` cannot be found from it.

    The seed is the same in all matches of the run, so it does not reveal which matches form a
    block.
    """
    return int.from_bytes(_hmac(seed.encode(), f"asara/tournament/bot/{entry}".encode())[:8]) >> 1


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, hashlib.sha256)


_DIGITS: Final = 64
_LEAST_COMPRESSED: Final = 36
"""Compressed size in bytes that 32 random bytes exceed, except once in more than 2^32 draws. A
repeated pattern does not exceed it.
"""


def draw_seed() -> str:
    """Return a new seed."""
    return secrets.token_hex(_DIGITS // 2)


def check_seed(text: str) -> str:
    """Return a seed in lower case; raise ValueError, with a remedy, if it is not strong."""
    fault = _fault(text)
    if fault:
        raise ValueError(
            f"{fault}; bots could guess anything else. Leave it out to get a random seed for each "
            f"run, or use this new one: {draw_seed()}"
        )
    return text.lower()


def local_seed(text: str) -> str:
    """Return the seed for a text chosen by the user: its SHA-256, or the text itself if it is
    strong.

    Such a seed is as easy to guess as the text, so use it only for matches between your own bots.
    """
    return text.lower() if not _fault(text) else hashlib.sha256(text.encode()).hexdigest()


def _fault(text: str) -> str:
    """Return why a text is not a strong seed; "" if it is strong."""
    if not re.fullmatch(f"[0-9a-fA-F]{{{_DIGITS}}}", text):
        return f"needs {_DIGITS} random hexadecimal digits"
    if len(zlib.compress(bytes.fromhex(text), 9)) < _LEAST_COMPRESSED:
        return "repeats itself"
    return ""
