"""What ends a bot, other than its author's own code."""

from __future__ import annotations


class AsaraError(Exception):
    """Base of all errors of this package; `str(error)` is one line for people."""

    exit_status = 1


class ConfigurationError(AsaraError):
    """The bot was not told where to dial in, or was told something impossible."""

    exit_status = 2


class RefusedError(AsaraError):
    """The referee ended the stream for a reason that dialling in again would not mend.

    `code` is the gRPC status (`"UNAUTHENTICATED"`), `reason` the referee's own word for it
    (`"unknown-token"`), empty where it gave none.
    """

    def __init__(self, code: str, reason: str, detail: str) -> None:
        self.code = code
        self.reason = reason
        label = f"{code}, {reason}" if reason else code
        super().__init__(f"the referee refused this bot ({label}): {_line(detail)}")


class ConnectionLostError(AsaraError):
    """No referee could be reached for longer than `Settings.patience_s`."""

    def __init__(self, address: str, patience_s: float, detail: str) -> None:
        super().__init__(f"no referee at {address} for {patience_s:g} s: {_line(detail)}")


def _line(text: str) -> str:
    return " ".join(text.split()) or "no details"
