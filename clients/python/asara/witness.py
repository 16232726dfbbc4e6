"""What a bot keeps of a match to hold the referee to its word: nonce, digest, transcript."""

from __future__ import annotations

import hmac
import logging
import os
import string
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from asara.v1.play_pb2 import DealCommitted, MatchEnded, MatchStarted, Nonce, PlayRequest

NONCE_BYTES = 32

_SAFE = frozenset((string.ascii_letters + string.digits + "._+-").encode())
_NAME_LENGTH = 200  # of a transcript's file, less its end

log = logging.getLogger("asara")


def make_nonce(seed: int | str | None, match_id: str, seat: int) -> bytes:
    """Drawn by the system; with a seed it follows from seed, match and seat."""
    if seed is None or seed == "":
        return os.urandom(NONCE_BYTES)
    return hmac.digest(str(seed).encode(), f"nonce/{match_id}/{seat}".encode(), sha256)


class Witness:
    """One match, from its first message to its last; outlives the streams."""

    def __init__(self, match_id: str, seat: int, folder: Path | None) -> None:
        self.digest = bytes(32)
        """SHA-256 over the digest before and the last message; at first 32 zero bytes."""
        self._match_id = match_id
        self._seat = seat
        self._committed = b""
        self._commitment = b""
        self._nonce = b""
        self._mirrored = False
        self._transcript = None if folder is None else self._open(folder)

    def hear(self, message: bytes) -> None:
        """A message of the match came, byte for byte like this."""
        self.digest = sha256(self.digest + message).digest()
        if self._transcript is None:
            return
        try:
            self._transcript.write(_varint(len(message)) + message)
            self._transcript.flush()
        except OSError as error:
            self._complain_of_the_transcript(error)

    def promised(self, committed: DealCommitted, message: bytes, nonce: bytes) -> PlayRequest:
        """The referee is bound; answers with the nonce. Asked again, with the same one."""
        if message != self._committed:
            if self._committed:
                self._compare(committed.deal_commitment)
            else:
                self._commitment = committed.deal_commitment
                self._nonce = nonce
            self._committed = message
            self.hear(message)  # asked again after a break, it counts once
        return PlayRequest(nonce=Nonce(match_id=self._match_id, nonce=self._nonce))

    def started(self, started: MatchStarted) -> None:
        """The match began, or goes on."""
        if not self._commitment:
            self._commitment = started.deal_commitment
        self._compare(started.deal_commitment)
        self._mirrored = started.mirrored
        mine = started.nonces[started.seat] if len(started.nonces) > started.seat else b""
        if self._nonce and mine != self._nonce:
            self._accuse("the deal was made without the nonce of this bot")

    def ended(self, ended: MatchEnded) -> None:
        """The match is over: the secret must be the one that the referee was bound to.

        That of a mirrored match is not told: the replay has it.
        """
        untold = ended.void or (self._mirrored and not ended.deal_secret)
        if not untold and sha256(ended.deal_secret).digest() != self._commitment:
            self._accuse(
                f"the secret {ended.deal_secret.hex() or '(none)'} does not open the commitment "
                f"{self._commitment.hex() or '(none)'}: the deal is not the one it was bound to"
            )
        self.close()

    def close(self) -> None:
        """Nothing more will come."""
        if self._transcript is not None:
            try:
                self._transcript.close()
            except OSError as error:
                self._complain_of_the_transcript(error)
            self._transcript = None

    def _compare(self, commitment: bytes) -> None:
        if commitment != self._commitment:
            self._accuse(
                f"the referee was bound by {self._commitment.hex()}, and changed that to "
                f"{commitment.hex() or '(none)'}"
            )

    def _accuse(self, what: str) -> None:
        log.error(
            "asara: %s: THE DEAL CANNOT BE TRUSTED: %s; keep the transcript and the replay, "
            "and tell the organiser",
            self._match_id,
            what,
        )

    def _open(self, folder: Path) -> BinaryIO | None:
        """A new file: one that is there already, of another run perhaps, stays as it is."""
        name = f"{_file_name(self._match_id)}-seat{self._seat}"
        number = 1
        while True:
            again = "" if number == 1 else f"-{number}"
            try:
                return (folder / f"{name}{again}.transcript").open("xb")
            except FileExistsError:
                number += 1
            except OSError as error:
                self._complain_of_the_transcript(error)
                return None

    def _complain_of_the_transcript(self, error: OSError) -> None:
        self._transcript = None
        log.warning("asara: %s: no further transcript: %s", self._match_id, error.strerror or error)


def _file_name(match_id: str) -> str:
    """A name for a file of its own folder, whatever the referee calls the match."""
    text = "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in match_id.encode())
    if text.startswith("."):
        text = "%2E" + text[1:]
    return text[:_NAME_LENGTH]


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
