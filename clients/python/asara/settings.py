"""Where to dial in and how to play: the author's wishes, completed by the runner's environment."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import grpc

from asara.errors import ConfigurationError


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of `run` as one value; what is empty or None comes from the environment."""

    address: str = ""
    """ASARA_ADDRESS: `host:port`, or `unix:/path` of a socket."""
    token: str = ""
    """ASARA_TOKEN: the secret that binds this process to its seats; never logged."""
    seat: int | None = None
    """ASARA_SEAT: the seat to expect, where this process plays one match only."""
    seed: int | str | None = None
    """ASARA_SEED: where `Match.random` comes from, and nonces of joint deals; without one no two
    runs are alike."""
    ca: str | os.PathLike[str] | None = None
    """ASARA_CA: file of the authority (PEM) that signed the referee's certificate; none: no TLS."""
    transcript: str | os.PathLike[str] | None = None
    """ASARA_TRANSCRIPT: folder for a file per match with all that the referee said in it."""
    bot_name: str = ""
    """Name and version of the program, for the referee's logs; cut to 64 bytes."""
    max_matches: int = 1
    """How many matches the referee may give this process at once."""
    live_updates: bool = False
    """Hear events after every turn, instead of all with the next decision."""
    omit_public_view: bool = False
    """Leave `view.public_view` out of decisions: less to read for bots that follow events."""
    patience_s: float = 30.0
    """How long to dial in vain before giving up."""

    def complete(self, environ: Mapping[str, str] = os.environ) -> Settings:
        """Fill in from the environment; raises ConfigurationError saying what to do."""
        found = replace(
            self,
            address=self.address or environ.get("ASARA_ADDRESS", ""),
            token=self.token or environ.get("ASARA_TOKEN", ""),
            seat=_seat(environ.get("ASARA_SEAT", "")) if self.seat is None else self.seat,
            seed=environ.get("ASARA_SEED") if self.seed is None else self.seed,
            ca=self.ca or environ.get("ASARA_CA"),
            transcript=self.transcript or environ.get("ASARA_TRANSCRIPT"),
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
                f"address {found.address!r}: write host:port, or unix:/path of a socket"
            )
        if found.max_matches < 1:
            raise ConfigurationError(f"max_matches is {found.max_matches}; it must be 1 or more")
        return found

    def credentials(self) -> grpc.ChannelCredentials | None:
        """TLS with the given authority, or None; raises ConfigurationError for a bad file."""
        if not self.ca:
            return None
        try:
            authority = Path(self.ca).read_bytes()
        except OSError as error:
            raise ConfigurationError(
                f"ASARA_CA: cannot read {os.fspath(self.ca)!r} ({error.strerror}); "
                "it names the certificate of the authority that the referee trusts"
            ) from None
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(self.ca)
        except ssl.SSLError:
            raise ConfigurationError(
                f"ASARA_CA: {os.fspath(self.ca)!r} holds no certificate in PEM form"
            ) from None
        return grpc.ssl_channel_credentials(root_certificates=authority)

    def transcript_folder(self) -> Path | None:
        """The folder for transcripts, made where it is missing; raises ConfigurationError."""
        if not self.transcript:
            return None
        folder = Path(self.transcript)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"ASARA_TRANSCRIPT: cannot make the folder {os.fspath(folder)!r} "
                f"({error.strerror}); name one that can be written"
            ) from None
        return folder


def _seat(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal():
        raise ConfigurationError(f"ASARA_SEAT is {text!r}; expected the number of a seat")
    return int(text)
