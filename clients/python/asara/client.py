"""Dialling in: one stream to the referee, opened again whenever it breaks."""

from __future__ import annotations

import logging
import os
import random
import sys
import time
from queue import SimpleQueue

import grpc

from asara.bot import Bot, DecideFunction, bot_maker
from asara.conversation import Conversation
from asara.errors import AsaraError, ConnectionLostError, RefusedError
from asara.settings import Settings
from asara.v1.play_pb2 import PlayRequest

_PLAY = "/asara.v1.PlayService/Play"
_REASON = "asara-reason"  # trailing metadata: the referee's own word for a status

# Dialling in again may help; with any other status the referee would only repeat itself.
_BREAKS = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.UNKNOWN,
    }
)
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0

_KEEPALIVE_MS = 20_000

_CHANNEL_OPTIONS = (
    # A way that is lost without a word, as between machines, is noticed after 40 s.
    ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
    ("grpc.keepalive_timeout_ms", _KEEPALIVE_MS),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.ping_timeout_ms", _KEEPALIVE_MS),
    ("grpc.use_local_subchannel_pool", 1),  # every attempt really dials: the pauses are ours
    ("grpc.enable_http_proxy", 0),  # http_proxy is often set where the referee is next door
)

log = logging.getLogger("asara")


def run(
    bot: type[Bot] | DecideFunction,
    *,
    address: str = "",
    token: str = "",
    seat: int | None = None,
    seed: int | str | None = None,
    ca: str | os.PathLike[str] | None = None,
    transcript: str | os.PathLike[str] | None = None,
    bot_name: str = "",
    max_matches: int = 1,
    live_updates: bool = False,
    omit_public_view: bool = False,
    patience_s: float = 30.0,
) -> None:
    """Play until the referee says goodbye; the last line of a bot's program.

    `bot` is a subclass of `Bot`, or a function of a decision and its match that returns one
    action or several. Options left out come from the environment (`Settings` names them).

    What goes wrong outside the author's code ends the process with one line on standard error:
    status 2 for a bot that was not told where to dial in, 1 for anything else. An exception in
    the author's code is not caught.
    """
    settings = Settings(
        address=address,
        token=token,
        seat=seat,
        seed=seed,
        ca=ca,
        transcript=transcript,
        bot_name=bot_name,
        max_matches=max_matches,
        live_updates=live_updates,
        omit_public_view=omit_public_view,
        patience_s=patience_s,
    )
    try:
        play(bot, settings)
    except AsaraError as error:
        sys.stderr.write(f"asara: {error}\n")
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)


def play(bot: type[Bot] | DecideFunction, settings: Settings | None = None) -> None:
    """Like `run`, for programs that go on afterwards: raises AsaraError and never exits."""
    make_bot = bot_maker(bot)
    settings = (settings or Settings()).complete()
    credentials = settings.credentials()
    conversation = Conversation(make_bot, settings)
    try:
        _converse(conversation, settings, credentials)
    finally:
        conversation.close()


def _converse(
    conversation: Conversation, settings: Settings, credentials: grpc.ChannelCredentials | None
) -> None:
    """Hold one stream after the other until the referee says goodbye."""
    pause_s = _FIRST_PAUSE_S
    reached = time.monotonic()
    warned = False
    while True:
        dialled = time.monotonic()
        conversation.welcomed = False
        detail = _talk(conversation, settings.address, credentials)
        if conversation.over:
            return
        now = time.monotonic()
        if conversation.welcomed:
            reached, warned = now, False
        elif now - reached > settings.patience_s:
            raise ConnectionLostError(settings.address, settings.patience_s, detail)
        if not warned:
            warned = True
            log.warning("asara: no stream to %s (%s); dialling again", settings.address, detail)
        if now - dialled > _LONGEST_PAUSE_S:
            pause_s = _FIRST_PAUSE_S
        time.sleep(pause_s * random.uniform(0.5, 1.0))
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _talk(
    conversation: Conversation, address: str, credentials: grpc.ChannelCredentials | None
) -> str:
    """Hold one stream until a goodbye or a break, and say why it broke; raises RefusedError.

    Blocking gRPC, measured against grpc.aio: the same CPU per decision once the cores are busy
    or several matches run, and the author's code stays outside any event loop.
    """
    requests: SimpleQueue[PlayRequest | None] = SimpleQueue()
    requests.put(conversation.hello())
    with _dial(address, credentials) as channel:
        play_stream: grpc.StreamStreamMultiCallable[PlayRequest, bytes] = channel.stream_stream(
            _PLAY,
            request_serializer=PlayRequest.SerializeToString,
            response_deserializer=None,  # the very bytes: they are part of the match's digest
        )
        responses = play_stream(iter(requests.get, None))
        try:
            while not conversation.over:
                try:
                    message = next(responses)
                except StopIteration:
                    return "closed without a goodbye"
                except grpc.RpcError as error:
                    return _why_it_broke(error)
                request = conversation.answer(message)
                if request:
                    requests.put(request)
        finally:
            requests.put(None)  # ends gRPC's sending thread
    return ""


def _dial(address: str, credentials: grpc.ChannelCredentials | None) -> grpc.Channel:
    if credentials is None:
        return grpc.insecure_channel(address, options=_CHANNEL_OPTIONS)
    return grpc.secure_channel(address, credentials, options=_CHANNEL_OPTIONS)


def _why_it_broke(error: grpc.RpcError) -> str:
    code, detail = error.code(), error.details() or ""
    if code in _BREAKS:
        return detail or code.name
    trailing = error.trailing_metadata() or ()
    reason = next((str(item.value) for item in trailing if item.key == _REASON), "")
    raise RefusedError(code.name, reason, detail) from None
