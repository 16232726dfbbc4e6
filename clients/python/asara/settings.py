"""Settings of a bot: given by its author, or else read from the environment."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import grpc

from asara.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

_DEFAULT_PATIENCE_S = 30.0


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of `run`. Empty or None values are replaced from the environment."""

    address: str = ""
    """ASARA_ADDRESS: address of the referee, `host:port` or `unix:/path`."""
    token: str = ""
    """ASARA_TOKEN: secret that identifies this bot to the referee; never logged."""
    seat: int | None = None
    """ASARA_SEAT: expected seat, if this process plays only one match."""
    seed: int | str | None = None
    """ASARA_SEED: seed of `Match.random` and of nonces; without a seed, every run differs."""
    ca: str | os.PathLike[str] | None = None
    """ASARA_CA: PEM certificate of the authority that signed the referee's; None means no TLS."""
    transcript: str | os.PathLike[str] | None = None
    """ASARA_TRANSCRIPT: folder for transcripts, one file per match with all messages received."""
    bot_name: str = ""
    """Name and version of the program, for the referee's logs; truncated to 64 bytes."""
    max_matches: int = 1
    """Maximum number of matches played at once."""
    live_updates: bool = False
    """True to receive events after every turn instead of with the next decision."""
    omit_public_view: bool = False
    """True to omit `view.public_view` from decisions, for bots that follow the events."""
    patience_s: float | None = None
    """ASARA_PATIENCE_S: seconds to try to reach the referee before giving up; default 30."""

    def complete(self, environ: Mapping[str, str] = os.environ) -> Settings:
        """Return settings completed from the environment; raise ConfigurationError if invalid."""
        found = replace(
            self,
            address=self.address or environ.get("ASARA_ADDRESS", ""),
            token=self.token or environ.get("ASARA_TOKEN", ""),
            seat=_seat(environ.get("ASARA_SEAT", "")) if self.seat is None else self.seat,
            seed=environ.get("ASARA_SEED") if self.seed is None else self.seed,
            ca=self.ca or environ.get("ASARA_CA"),
            transcript=self.transcript or environ.get("ASARA_TRANSCRIPT"),
            patience_s=(
                _patience_s(environ.get("ASARA_PATIENCE_S", ""))
                if self.patience_s is None
                else self.patience_s
            ),
        )
        needed = {"ASARA_ADDRESS": found.address, "ASARA_TOKEN": found.token}
        missing = [name for name, value in needed.items() if not value]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            raise ConfigurationError(
                f"{' and '.join(missing)} {verb} not set: start this bot with `asara match`, "
                "or set ASARA_ADDRESS (host:port or unix:/path) and ASARA_TOKEN"
            )
        host, _, port = found.address.rpartition(":")
        if not found.address.startswith("unix:") and not (host and port.isdecimal()):
            raise ConfigurationError(
                f"ASARA_ADDRESS is {found.address!r}: expected host:port or unix:/path"
            )
        if found.max_matches < 1:
            raise ConfigurationError(f"max_matches is {found.max_matches}: expected 1 or more")
        if found.patience_s is not None and not found.patience_s >= 0:
            raise ConfigurationError(f"patience_s is {found.patience_s}: expected 0 or more")
        return found

    def credentials(self) -> grpc.ChannelCredentials | None:
        """Return TLS credentials, or None without a CA; raise ConfigurationError for a bad file."""
        if not self.ca:
            return None
        from pathlib import Path

        try:
            authority = Path(self.ca).read_bytes()
        except OSError as error:
            raise ConfigurationError(
                f"ASARA_CA: cannot read {os.fspath(self.ca)!r} ({error.strerror}); expected "
                "the certificate of the authority that signed the referee's certificate"
            ) from None
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(self.ca)
        except ssl.SSLError:
            raise ConfigurationError(
                f"ASARA_CA: {os.fspath(self.ca)!r} contains no PEM certificate"
            ) from None
        return grpc.ssl_channel_credentials(root_certificates=authority)

    def transcript_folder(self) -> Path | None:
        """Return the folder for transcripts, creating it if needed; raise ConfigurationError."""
        if not self.transcript:
            return None
        if os.environ.get("ASARA_CONTAINED"):
            raise ConfigurationError(
                "a transcript is asked for, but the sandbox of this bot is deleted with everything "
                "in it; play with --sandbox none, or without the transcript"
            )
        from pathlib import Path

        folder = Path(self.transcript)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"ASARA_TRANSCRIPT: cannot create the folder {os.fspath(folder)!r} "
                f"({error.strerror}); choose a writable one"
            ) from None
        return folder


def _seat(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal():
        raise ConfigurationError(f"ASARA_SEAT is {text!r}: expected a seat number")
    return int(text)


def _patience_s(text: str) -> float:
    if not text:
        return _DEFAULT_PATIENCE_S
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        raise ConfigurationError(
            f"ASARA_PATIENCE_S is {text!r}: expected seconds, such as 30 or 0.5"
        )
    return float(text)
