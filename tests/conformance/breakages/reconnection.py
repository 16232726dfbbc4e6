"""Breakages of cases in `02-reconnection.yaml`."""

import atexit
import contextlib
import sys
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import grpc

from asara import client, protocol_client
from asara.errors import ConnectionLostError
from asara.protocol_client import ProtocolClient
from asara.stream import BlockingStream, Stream
from asara.v1.play_pb2 import LastEvent, PlayRequest, PlayResponse
from tests.conformance.breakages.breakage import around, breaks, put


def gives_up(address: str, detail: str) -> ConnectionLostError:
    return ConnectionLostError(address, 0, detail)


@breaks("broken-connection", client, "_play_stream")
def never_dial_again(original: Any, protocol: Any, address: str, credentials: Any) -> Any:
    reason = original(protocol, address, credentials)
    closed = "Socket closed" in reason or "reset" in reason
    if closed and "failed to connect" not in reason:
        raise gives_up(address, reason)
    return reason


@breaks("last-events")
def name_matches_that_have_ended() -> None:
    ended: list[str] = []

    @around(ProtocolClient, "handle")
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        response = PlayResponse.FromString(message)
        if response.HasField("match_ended") and response.match_ended.match_id in self._matches:
            ended.append(response.match_ended.match_id)
        return original(self, message)

    @around(ProtocolClient, "hello")
    def hello(original: Any, self: ProtocolClient) -> PlayRequest:
        request: PlayRequest = original(self)
        request.hello.last_events.extend(LastEvent(match_id=name) for name in ended)
        return request


@breaks("missed-events")
def forget_events_missed() -> None:
    fresh = True

    @around(ProtocolClient, "hello")
    def hello(original: Any, self: ProtocolClient) -> Any:
        nonlocal fresh
        fresh = True
        return original(self)

    @around(ProtocolClient, "handle")
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        nonlocal fresh
        request = original(self, message)
        if not PlayResponse.FromString(message).HasField("welcome"):
            fresh = False
        return request

    @around(protocol_client, "_deliver_events")
    def deliver(original: Any, *arguments: Any) -> None:
        if not fresh:
            original(*arguments)


@breaks("decision-repeated")
def decide_again() -> None:
    """Answer a decision that is repeated with another action, unless one was rejected."""

    @around(ProtocolClient, "_decide")
    def decide(original: Any, self: ProtocolClient, decision: Any, message: bytes) -> Any:
        active = self._matches.get(decision.match_id)
        repeated = active is not None and active.decision.decision_id == decision.decision_id
        request = original(self, decision, message)
        if repeated and request is not None and not getattr(self, "was_rejected", False):
            others = [each for each in decision.legal_actions if each != request.reply.actions[0]]
            del request.reply.actions[:]
            request.reply.actions.append(others[0])
        return request

    @around(ProtocolClient, "_handle_rejection")
    def rejected(original: Any, self: ProtocolClient, *arguments: Any) -> Any:
        self.was_rejected = True  # type: ignore[attr-defined]
        return original(self, *arguments)


@breaks("restarted-referee")
def give_up_when_nothing_listens() -> None:
    met = False

    @around(client, "_play_stream")
    def play(original: Any, protocol: Any, address: str, credentials: Any) -> Any:
        nonlocal met
        reason = original(protocol, address, credentials)
        if met and "failed to connect" in reason:
            raise gives_up(address, reason)
        met = met or "failed to connect" not in reason
        return reason


@breaks("match-of-an-earlier-process", ProtocolClient, "_start_match")
def ignore_unknown_matches_that_resume(
    original: Any, self: ProtocolClient, started: Any, message: bytes
) -> None:
    if not started.resumed or started.match_id in self._matches:
        original(self, started, message)


@breaks("match-that-ended-meanwhile")
def wait_for_matches_to_resume() -> None:
    """Begin no match on a further stream before those of the first have resumed."""
    waiting: set[str] = set()

    @around(ProtocolClient, "hello")
    def hello(original: Any, self: ProtocolClient) -> Any:
        waiting.update(self._matches)
        return original(self)

    @around(ProtocolClient, "_start_match")
    def start(original: Any, self: ProtocolClient, started: Any, message: bytes) -> None:
        waiting.discard(started.match_id)
        if started.resumed or not waiting:
            original(self, started, message)


@breaks("pauses-grow")
def dial_without_pauses() -> None:
    put(client, "_FIRST_PAUSE_S", 0.02)
    put(client, "_LONGEST_PAUSE_S", 0.02)


@breaks("closed-before-dialling")
def keep_connections() -> None:
    @contextlib.contextmanager
    def open_for_good(address: str, credentials: Any) -> Iterator[Stream]:
        stream = BlockingStream(address, credentials)
        # An open channel may keep the process from ending.
        atexit.register(stream.__exit__, None, None, None)
        yield stream

    put(client, "open_stream", open_for_good)


@breaks("stream-without-goodbye", client, "_play_stream")
def wait_for_ever_after_an_end(original: Any, *arguments: Any) -> Any:
    reason = original(*arguments)
    if reason == "closed without a goodbye":
        threading.Event().wait()
    return reason


@breaks("goodbye-is-missing", client, "_play_stream")
def take_an_end_for_goodbye(original: Any, *arguments: Any) -> Any:
    reason = original(*arguments)
    if reason == "closed without a goodbye":
        sys.exit(0)
    return reason


def final(status: str) -> None:
    put(client, "_RETRYABLE", client._RETRYABLE - {grpc.StatusCode[status]})


for status in ("CANCELLED", "DEADLINE_EXCEEDED", "INTERNAL", "UNKNOWN"):
    breaks(f"dial-again-{status.lower().replace('_', '-')}")(partial(final, status))


@breaks("dial-again-unavailable", client, "_break_reason")
def end_when_the_referee_stops(original: Any, address: str, error: Any) -> Any:
    if any(item.value == "stopping" for item in error.trailing_metadata() or ()):
        raise gives_up(address, "it is stopping")
    return original(address, error)


@breaks("dial-again-too-many-streams")
def end_after_too_many_streams() -> None:
    put(client, "_RETRYABLE_REASONS", frozenset())
