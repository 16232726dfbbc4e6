"""Verifies the referee: nonces of joint deals, commitment, message digest and transcript."""

from __future__ import annotations

import logging
import os
import string
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO

from asara.v1.play_pb2 import DealCommitted, MatchEnded, MatchStarted, Nonce, PlayRequest

if TYPE_CHECKING:
    from pathlib import Path

NONCE_BYTES = 32

_SAFE = frozenset((string.ascii_letters + string.digits + "._+-").encode())
_NAME_LENGTH = 200  # of a transcript's file name, without seat and extension

log = logging.getLogger("asara")


def make_nonce(seed: int | str | None, match_id: str, seat: int) -> bytes:
    """Return 32 random bytes. With a seed, the bytes are derived from seed, match and seat."""
    if seed is None or seed == "":
        return os.urandom(NONCE_BYTES)
    import hmac

    return hmac.digest(str(seed).encode(), f"nonce/{match_id}/{seat}".encode(), sha256)


class Verifier:
    """Verifies one match, from its first message to its last, across reconnections.

    Violations and transcript failures are logged; neither stops the match. After the match, the
    digest is written next to the transcript.
    """

    def __init__(self, match_id: str, seat: int, folder: Path | None) -> None:
        self.digest = bytes(32)
        """SHA-256 of the previous digest and the last message; initially 32 zero bytes."""
        self.messages: list[bytes] = []
        """All messages of the match, exactly as received."""
        self._match_id = match_id
        self._seat = seat
        self._commitment = b""
        self._commitment_message = b""
        self._nonce = b""
        self._shared_deal = False
        self._transcript = None if folder is None else self._open(folder)

    def record(self, message: bytes) -> None:
        """Add a message of the match, exactly as received, to the digest and the transcript."""
        self.messages.append(message)
        self.digest = sha256(self.digest + message).digest()
        if self._transcript is None:
            return
        try:
            self._transcript.write(_varint(len(message)) + message)
            self._transcript.flush()
        except OSError as error:
            self._stop_transcript(error)

    def deal_committed(self, committed: DealCommitted, message: bytes, nonce: bytes) -> PlayRequest:
        """Record the commitment and return the nonce to send.

        If a commitment is repeated after a reconnection, it is not recorded again, and the first
        nonce is returned.
        """
        if message != self._commitment_message:
            if self._commitment_message:
                self._check_commitment(committed.deal_commitment)
            else:
                self._commitment = committed.deal_commitment
                self._nonce = nonce
            self._commitment_message = message
            self.record(message)
        return PlayRequest(nonce=Nonce(match_id=self._match_id, nonce=self._nonce))

    def match_started(self, started: MatchStarted) -> None:
        """Check the commitment and this bot's nonce. Also called when the match resumes."""
        if not self._commitment:
            self._commitment = started.deal_commitment
        self._check_commitment(started.deal_commitment)
        self._shared_deal = started.shared_deal
        nonces, seat = started.nonces, started.seat
        if self._nonce and (nonces[seat] if seat < len(nonces) else b"") != self._nonce:
            self._report_violation("the deal was made without the nonce of this bot")

    def match_ended(self, ended: MatchEnded) -> None:
        """Check that the secret opens the commitment, and finish the transcript.

        If a deal is shared, the match may withhold its secret; the replay contains it.
        """
        withheld = ended.void or (self._shared_deal and not ended.deal_secret)
        if not withheld and sha256(ended.deal_secret).digest() != self._commitment:
            self._report_violation(
                f"the secret {_hex(ended.deal_secret)} does not open "
                f"the commitment {_hex(self._commitment)}"
            )
        self.finish()

    def finish(self) -> None:
        """Close the transcript of a match that has ended, and write the digest next to it."""
        if self._transcript is not None:
            from pathlib import Path

            path = Path(self._transcript.name).with_suffix(".digest")
            self.close()
            try:
                with path.open("x") as file:
                    file.write(f"{self.digest.hex()}\n")
            except OSError as error:
                log.warning("asara: %s: no digest written: %s", self._match_id, _reason(error))

    def close(self) -> None:
        """Close the transcript of a match that has not ended."""
        if self._transcript is not None:
            try:
                self._transcript.close()
            except OSError as error:
                self._stop_transcript(error)
            self._transcript = None

    def _check_commitment(self, commitment: bytes) -> None:
        if commitment != self._commitment:
            self._report_violation(
                f"the commitment {_hex(self._commitment)} was changed to {_hex(commitment)}"
            )

    def _report_violation(self, violation: str) -> None:
        log.error(
            "asara: %s: THE DEAL CANNOT BE TRUSTED: %s; keep the transcript and the replay, "
            "and inform the organiser",
            self._match_id,
            violation,
        )

    def _open(self, folder: Path) -> BinaryIO | None:
        """Create a transcript under a name that no earlier run has used."""
        name = f"{_file_name(self._match_id)}-seat{self._seat}"
        number = 1
        while True:
            suffix = "" if number == 1 else f"-{number}"
            try:
                return (folder / f"{name}{suffix}.transcript").open("xb")
            except FileExistsError:
                number += 1
            except OSError as error:
                self._stop_transcript(error)
                return None

    def _stop_transcript(self, error: OSError) -> None:
        self._transcript = None
        log.warning("asara: %s: transcript stopped: %s", self._match_id, _reason(error))


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _hex(data: bytes) -> str:
    return data.hex() or "(none)"


def _file_name(match_id: str) -> str:
    """Convert any match name to a file name that cannot leave its folder."""
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
