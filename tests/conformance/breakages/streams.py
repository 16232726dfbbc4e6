"""Breakages of cases in `01-streams.yaml`."""

import atexit
import sys
import threading
import time
from hashlib import sha256
from queue import SimpleQueue
from typing import Any

import grpc

from asara import bot, client
from asara.protocol_client import ProtocolClient
from asara.v1.play_pb2 import PlayRequest, PlayResponse, Reply
from tests.conformance.breakages.breakage import around, breaks, put


def count_streams() -> list[str]:
    """Return a list that grows by the reason, or "", when a stream begins."""
    begun: list[str] = []
    reason = ""

    @around(client, "_play_stream")
    def play(original: Any, *arguments: Any) -> Any:
        nonlocal reason
        begun.append(reason)
        reason = original(*arguments)
        return reason

    return begun


@breaks("hello-and-goodbye")
def fail_without_a_match() -> None:
    streams = count_streams()

    @around(ProtocolClient, "handle")
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        if PlayResponse.FromString(message).HasField("goodbye"):
            begun = len(streams)
            if begun == 1 and not self._matches and not getattr(self, "played", False):
                sys.exit(1)
        elif PlayResponse.FromString(message).HasField("match_started"):
            self.played = True  # type: ignore[attr-defined]
        return original(self, message)


@breaks("hello-fields", ProtocolClient, "hello")
def hide_the_language(original: Any, self: ProtocolClient) -> PlayRequest:
    request: PlayRequest = original(self)
    request.hello.language = ""
    return request


@breaks("published-rule")
def hash_latin_letters() -> None:
    def index(seed: str, match_id: str, seat: int, decision_id: int, count: int) -> int:
        text = f"{seed}/{match_id}/{seat}/{decision_id}".encode("latin-1")
        return int.from_bytes(sha256(text).digest()[:8], "big") % count

    put(bot, "random_index", index)


@breaks("whole-match")
def leave_after_sixty_decisions() -> None:
    decisions = 0

    @around(ProtocolClient, "_decide")
    def decide(original: Any, self: ProtocolClient, *arguments: Any) -> Any:
        nonlocal decisions
        decisions += 1
        if decisions > 60:
            sys.exit(0)
        return original(self, *arguments)


@breaks("two-matches")
def reply_to_the_latest_match() -> None:
    latest = ""

    @around(ProtocolClient, "handle")
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        nonlocal latest
        request = original(self, message)
        response = PlayResponse.FromString(message)
        if response.HasField("match_started"):
            latest = response.match_started.match_id
        if response.HasField("decision") and request is not None:
            request.reply.match_id = latest
        return request


@breaks("one-match-after-another")
def play_a_single_match() -> None:
    over = False

    @around(ProtocolClient, "handle")
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        nonlocal over
        response = PlayResponse.FromString(message)
        if response.HasField("match_started") and over:
            return None
        request = original(self, message)
        if response.HasField("match_ended") and not response.match_ended.void:
            over = True
        return request


@breaks("goodbye-in-a-match", ProtocolClient, "handle")
def complain_about_an_early_goodbye(original: Any, self: ProtocolClient, message: bytes) -> Any:
    if PlayResponse.FromString(message).HasField("goodbye") and self.open_matches:
        sys.exit(1)
    return original(self, message)


@breaks("slow-referee")
def wait_busily() -> None:
    last = time.monotonic()

    def spin() -> None:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if time.monotonic() - last < 0.5:
                time.sleep(0.01)

    @around(ProtocolClient, "handle")
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        nonlocal last
        last = time.monotonic()
        return original(self, message)

    threading.Thread(target=spin, daemon=True).start()


@breaks("one-stream-at-a-time")
def dial_twice_after_a_break() -> None:
    """Open a second stream before the first reply on a stream that replaces an ended one."""
    broken = False
    address = ""

    @around(client, "_play_stream")
    def play(original: Any, protocol: ProtocolClient, dialled: str, credentials: Any) -> Any:
        nonlocal broken, address
        address = dialled
        reason = original(protocol, dialled, credentials)
        broken = "as the case demands" in reason
        return reason

    @around(ProtocolClient, "handle")
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        nonlocal broken
        request = original(self, message)
        if broken and PlayResponse.FromString(message).HasField("decision"):
            broken = False
            _open_stream(self.hello(), address)
        return request


def _open_stream(hello: PlayRequest, address: str) -> None:
    """Open a stream of the same bot, and keep it open until the program ends."""
    requests: SimpleQueue[PlayRequest] = SimpleQueue()
    requests.put(hello)
    channel = grpc.insecure_channel(address)
    atexit.register(channel.close)
    grpc.channel_ready_future(channel).result()
    call: Any = channel.stream_stream(
        "/asara.v1.PlayService/Play", request_serializer=PlayRequest.SerializeToString
    )
    opened.append(call(iter(requests.get, None)))


opened: list[Any] = []
"""Streams that are kept open."""


@breaks("no-request-unasked")
def answer_before_being_asked() -> None:
    """Answer an Update that comes before the first decision."""
    begun: set[str] = set()

    @around(ProtocolClient, "handle")
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        response = PlayResponse.FromString(message)
        if response.HasField("match_started") and not response.match_started.resumed:
            begun.add(response.match_started.match_id)
        begun.discard(response.decision.match_id)
        request = original(self, message)
        if response.update.match_id in begun:
            return PlayRequest(reply=Reply(match_id=response.update.match_id))
        return request
