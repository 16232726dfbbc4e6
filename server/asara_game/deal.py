"""Shuffles that any language can recompute from one secret.

The words for label L are the 32-bit big-endian integers in HMAC-SHA256(secret, L || 0x00 || n) for
n = 0, 1, 2, … as a 32-bit big-endian counter, one block after the other. A list of k items is
shuffled from its end: for i = k-1 down to 1, words are read until one is below the largest multiple
of i+1 that is at most 2^32; item i changes places with item (word mod (i+1)).
"""

from __future__ import annotations

import hashlib
import hmac
import random
import struct
from typing import Protocol

__all__ = ["Deal", "RandomShuffler", "Shuffler"]

_WORDS = struct.Struct(">8I")
_COUNTER = struct.Struct(">I")
_RANGE = 1 << 32


class Shuffler(Protocol):
    """Where the rules get their randomness from."""

    def shuffle(self, label: str, items: list[int]) -> None:
        """Bring `items` into a random order, in place; a label is used once per match."""


class Deal:
    """The shuffles of one match, from a secret of 32 bytes."""

    __slots__ = ("secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != 32:
            raise ValueError(f"a deal's secret has 32 bytes, not {len(secret)}")
        self.secret = secret

    def commitment(self) -> bytes:
        """SHA-256 of the secret: published before the match, checked after it."""
        return hashlib.sha256(self.secret).digest()

    def shuffle(self, label: str, items: list[int]) -> None:
        """Fisher-Yates by the words of `label`; unbiased."""
        prefix = label.encode() + b"\0"
        secret = self.secret
        block = 0
        words: tuple[int, ...] = ()
        at = 8
        for i in range(len(items) - 1, 0, -1):
            bound = _RANGE - _RANGE % (i + 1)
            while True:
                if at == 8:
                    message = prefix + _COUNTER.pack(block)
                    words = _WORDS.unpack(hmac.digest(secret, message, "sha256"))
                    block += 1
                    at = 0
                word = words[at]
                at += 1
                if word < bound:
                    break
            j = word % (i + 1)
            items[i], items[j] = items[j], items[i]


class RandomShuffler:
    """Shuffles by a `random.Random`: for search and tests."""

    __slots__ = ("rng",)

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def shuffle(self, label: str, items: list[int]) -> None:
        """Ignores the label."""
        self.rng.shuffle(items)
