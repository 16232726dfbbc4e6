"""Shuffles that any language can recompute from one secret.

The words for label L are the 32-bit big-endian integers in HMAC-SHA256(secret, L || 0x00 || n) for
n = 0, 1, 2, … as a 32-bit big-endian counter, one block after the other. A list of k items is
shuffled from its end: for i = k-1 down to 1, words are read until one is below the largest multiple
of i+1 that is at most 2^32. Item i is then swapped with item (word mod (i+1)).
"""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Callable
from typing import Final, Protocol

_WORDS: Final = struct.Struct(">8I")
_COUNTER: Final = struct.Struct(">I")
_RANGE: Final = 1 << 32
_SAFE: Final = _RANGE - (1 << 16)
"""Words below this are never skipped: no list has 65536 items."""
_BLOCK: Final = 64
_INNER: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))


class Shuffler(Protocol):
    """Source of all randomness of a match."""

    def shuffle(self, label: str, items: list[int]) -> None:
        """Shuffle `items` in place.

        Use each label only once per match: it selects the random numbers.
        """


class Deal:
    """The shuffles of one match, derived from a 32-byte secret."""

    __slots__ = ("_hmac", "secret")

    def __init__(self, secret: bytes) -> None:
        if len(secret) != 32:
            raise ValueError(f"a deal's secret has 32 bytes, not {len(secret)}")
        self.secret = secret
        self._hmac = _hmac_sha256(secret)

    def __reduce__(self) -> tuple[type[Deal], tuple[bytes]]:
        return Deal, (self.secret,)

    def commitment(self) -> bytes:
        """SHA-256 of the secret: published before the match and checked after it."""
        return hashlib.sha256(self.secret).digest()

    def shuffle(self, label: str, items: list[int]) -> None:
        """Shuffle in place without bias, using the words for `label`."""
        prefix = label.encode() + b"\0"
        left = len(items)
        block = 0
        while left > 1:
            for word in _WORDS.unpack(self._hmac(prefix + _COUNTER.pack(block))):
                if left > 1 and (word < _SAFE or word < _RANGE - _RANGE % left):
                    j = word % left
                    left -= 1
                    items[left], items[j] = items[j], items[left]
            block += 1


def _hmac_sha256(key: bytes) -> Callable[[bytes], bytes]:
    """Return a function that computes HMAC-SHA256 (RFC 2104) with this key.

    The key is hashed only once, for all messages. Copies of `hmac.HMAC` would slow down random
    playouts of the compiled engine by a tenth.
    """
    padded = key.ljust(_BLOCK, b"\0")
    keyed_inner = hashlib.sha256(padded.translate(_INNER))
    keyed_outer = hashlib.sha256(padded.translate(_OUTER))

    def digest(message: bytes) -> bytes:
        inner = keyed_inner.copy()
        inner.update(message)
        outer = keyed_outer.copy()
        outer.update(inner.digest())
        return outer.digest()

    return digest


class RandomShuffler:
    """Shuffles using a `random.Random`, for search and tests."""

    __slots__ = ("rng",)

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def shuffle(self, label: str, items: list[int]) -> None:
        """Shuffle in place; the label has no influence."""
        self.rng.shuffle(items)
