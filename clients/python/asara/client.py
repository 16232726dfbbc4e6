"""`run` and `play`: connect to the referee, and reconnect whenever the stream breaks."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Iterable
from typing import Any

import grpc

from asara import program_end
from asara.author_code import (
    caller_place,
    hide_own_frames_when_printed,
    raising_place,
    runs_again,
)
from asara.bot import Bot, DecideFunction, bot_factory
from asara.errors import (
    AsaraError,
    BotError,
    ConfigurationError,
    ConnectionLostError,
    RefusedError,
)
from asara.protocol_client import ProtocolClient
from asara.settings import Settings
from asara.stream import open_stream
from asara.v1.play_pb2 import PlayRequest

_REASON_KEY = "asara-reason"  # in the trailing metadata

# After any other status a new stream would only end in the same way.
_RETRYABLE = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.UNKNOWN,
    }
)
# Reasons of other statuses after which a new stream may be accepted a little later.
_RETRYABLE_REASONS = frozenset({"too-many-streams"})
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0

log = logging.getLogger("asara")

_dismissed: set[tuple[str, str]] = set()
"""Addresses of referees that have said goodbye, each with the bot's token."""


def run(
    bot: type[Bot] | DecideFunction,
    *,
    address: str = "",
    token: str = "",
    seed: int | str | None = None,
    transcript: str | os.PathLike[str] | None = None,
    bot_name: str = "",
    max_matches: int = 1,
    live_updates: bool = False,
    omit_public_view: bool = False,
    patience_s: float | None = None,
) -> None:
    """Play until the referee sends Goodbye. Call this in the last line of a bot's program.

    `bot` is a subclass of `Bot`, or a function that takes a decision and its match and returns one
    or more actions. Options that are not given come from the environment (see `Settings`).

    An AsaraError ends the process with one line on standard error. The exit status is 2 for a
    missing or invalid setting, otherwise 1. Exceptions in the author's code are not caught; the
    traceback that ends the process shows only the author's lines.
    """
    settings = Settings(
        address=address,
        token=token,
        seed=seed,
        transcript=transcript,
        bot_name=bot_name,
        max_matches=max_matches,
        live_updates=live_updates,
        omit_public_view=omit_public_view,
        patience_s=patience_s,
    )
    try:
        play(bot, settings)
        program_end.expect_end()
    except AsaraError as error:
        sys.stderr.write(f"asara: {error}\n")
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:
        hide_own_frames_when_printed()
        raise


def play(bot: type[Bot] | DecideFunction, settings: Settings | None = None) -> None:
    """Like `run`, for programs that continue afterwards: raises AsaraError and never exits."""
    program_end.has_played()
    if runs_again():
        raise BotError(
            f"{caller_place()}: multiprocessing runs this file again in each of its processes; "
            'write `if __name__ == "__main__":` before asara.run'
        )
    make_bot = bot_factory(bot)
    settings = (settings or Settings()).complete()
    credentials = settings.credentials()
    with contextlib.closing(ProtocolClient(make_bot, settings)) as protocol:
        try:
            _play_until_goodbye(protocol, settings, credentials)
            _dismissed.add((settings.address, settings.token))
        except RefusedError as error:
            known = (settings.address, settings.token) in _dismissed
            if not known or error.reason != "unknown-token":
                raise
            raise BotError(
                f"{caller_place()}: asara.run was called again after the referee's goodbye; "
                "remove this call"
            ) from error
        except SystemExit as error:
            if protocol.open_matches:
                log.error(
                    "asara: %s: sys.exit ended the bot in the middle of %s, which it forfeits; "
                    "return an action instead, and `asara.run` ends after the last match",
                    raising_place(error.__traceback__),
                    ", ".join(protocol.open_matches),
                )
            elif not protocol.finished:
                log.error(
                    "asara: %s: sys.exit ended the bot after its match, so that its next match "
                    "needs a new process; remove it, and `asara.run` ends after the last match",
                    raising_place(error.__traceback__),
                )
            raise
        finally:
            program_end.report_lost_files()


def _play_until_goodbye(
    protocol: ProtocolClient, settings: Settings, credentials: grpc.ChannelCredentials | None
) -> None:
    """Play on one stream after another until the referee sends Goodbye."""
    patience_s = settings.patience_s
    assert patience_s is not None
    pause_s = _FIRST_PAUSE_S
    last_contact = time.monotonic()
    warned = met = False
    while True:
        began = time.monotonic()
        protocol.welcomed = False
        detail = _play_stream(protocol, settings.address, credentials)
        if protocol.finished:
            return
        now = time.monotonic()
        if protocol.welcomed:
            last_contact, warned, met = now, False, True
        elif not met and (fault := _transport_fault(settings)):
            raise ConfigurationError(fault)
        elif now - last_contact > patience_s:
            raise ConnectionLostError(settings.address, patience_s, detail)
        if not warned:
            warned = True
            log.warning("asara: no connection to %s (%s); retrying", settings.address, detail)
        if now - began > _LONGEST_PAUSE_S:
            pause_s = _FIRST_PAUSE_S
        _pause(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _transport_fault(settings: Settings) -> str:
    from asara.transport import transport_fault

    return transport_fault(settings.address, tls=bool(settings.ca))


def _pause(longest_s: float) -> None:
    from random import uniform

    time.sleep(longest_s * uniform(0.5, 1.0))


def _play_stream(
    protocol: ProtocolClient, address: str, credentials: grpc.ChannelCredentials | None
) -> str:
    """Play on one stream; return why it broke, or "" after Goodbye. Raises RefusedError."""
    request: PlayRequest | None = protocol.hello()
    with open_stream(address, credentials) as stream:
        while not protocol.finished:
            try:
                message = stream.exchange(request)
            except grpc.RpcError as error:
                return _break_reason(address, error)
            if message is None:
                return "closed without a goodbye"
            request = protocol.handle(message)
    return ""


def _break_reason(address: str, error: grpc.RpcError) -> str:
    """Return why the stream broke; raise RefusedError if reconnecting would not help."""
    code, detail = error.code(), error.details() or ""
    trailing: Iterable[Any] = error.trailing_metadata() or ()  # pairs; named tuples if blocking
    reason = next((str(value) for key, value in trailing if key == _REASON_KEY), "")
    if code in _RETRYABLE or reason in _RETRYABLE_REASONS:
        return detail or code.name
    raise RefusedError(address, code.name, reason, detail) from None
