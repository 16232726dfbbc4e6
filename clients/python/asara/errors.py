"""Exceptions raised by this package."""

from __future__ import annotations

_CLIENT_LIBRARY = "use the client library that comes with the referee"
_ADVICE = {
    "UNAUTHENTICATED": "set ASARA_TOKEN to what `asara match` printed last, "
    "or what the organiser gave you",
    "FAILED_PRECONDITION": _CLIENT_LIBRARY,
    "INVALID_ARGUMENT": _CLIENT_LIBRARY,
    "ABORTED": "each process needs its own token",
    "RESOURCE_EXHAUSTED": "see the limits in proto/README.md",
    "UNIMPLEMENTED": "no ASARA referee listens there; check ASARA_ADDRESS",
}


class AsaraError(Exception):
    """Base class of all errors of this package; `str(error)` is a single line."""

    exit_status = 1
    """Exit status of a bot that `asara.run` ends because of this error."""


class ConfigurationError(AsaraError):
    """Raised if a setting is missing or invalid."""

    exit_status = 2


class BotError(AsaraError):
    """Raised if the author's program misuses this package.

    For example, `run` got an instance, or `decide` returned None. The text gives file and line.
    """


class RefusedError(AsaraError):
    """Raised if the referee ended the stream for a reason that reconnecting would not change.

    `code` is the name of the gRPC status (`"UNAUTHENTICATED"`). `reason` is the referee's
    `asara-reason` (`"unknown-token"`), or empty if the referee sent none.
    """

    def __init__(self, address: str, code: str, reason: str, detail: str) -> None:
        self.code = code
        self.reason = reason
        text = f"the referee at {address} refused this bot ({reason or code}): {_line(detail)}"
        advice = _ADVICE.get(code)
        super().__init__(f"{text}; {advice}" if advice else text)


class ConnectionLostError(AsaraError):
    """Raised if no referee could be reached for longer than `Settings.patience_s`."""

    def __init__(self, address: str, patience_s: float, detail: str) -> None:
        super().__init__(f"no referee at {address} for {patience_s:g} s: {_line(detail)}")


def _line(text: str) -> str:
    return " ".join(text.split()) or "no details"
