"""Breakages of cases in `01-streams.yaml`."""

import sys
import threading
import time
from hashlib import sha256
from queue import SimpleQueue
from typing import Any

import grpc

from asara import bot, client
from asara.protocol_client import ProtocolClient
from asara.stream import BlockingStream, Stream
from asara.v1.play_pb2 import PlayRequest, PlayResponse, Reply
from tests.conformance.breakages.breakage import around, breaks, put


def count_streams() -> list[str]:
    """Return a list that grows by the reason, or "", when a stream begins."""
    begun: list[str] = []
    reason = ""

    def play(original: Any, *arguments: Any) -> Any:
        nonlocal reason
        begun.append(reason)
        reason = original(*arguments)
        return reason

    around(client, "_play_stream", play)
    return begun


def later(seconds: float, work: Any, *arguments: Any) -> None:
    """Do something later, unless the program has ended by then."""
    timer = threading.Timer(seconds, work, arguments)
    timer.daemon = True
    timer.start()


@breaks("hello-and-goodbye")
def fail_without_a_match() -> None:
    streams = count_streams()

    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        if PlayResponse.FromString(message).HasField("goodbye"):
            begun = len(streams)
            if begun == 1 and not self._matches and not getattr(self, "played", False):
                sys.exit(1)
        elif PlayResponse.FromString(message).HasField("match_started"):
            self.played = True  # type: ignore[attr-defined]
        return original(self, message)

    around(ProtocolClient, "handle", handle)


@breaks("hello-fields")
def hide_the_language() -> None:
    def hello(original: Any, self: ProtocolClient) -> PlayRequest:
        request: PlayRequest = original(self)
        request.hello.language = ""
        return request

    around(ProtocolClient, "hello", hello)


@breaks("published-rule")
def hash_latin_letters() -> None:
    def index(seed: str, match_id: str, seat: int, decision_id: int, count: int) -> int:
        text = f"{seed}/{match_id}/{seat}/{decision_id}".encode("latin-1")
        return int.from_bytes(sha256(text).digest()[:8], "big") % count

    put(bot, "random_index", index)


@breaks("whole-match")
def leave_after_sixty_decisions() -> None:
    decisions = 0

    def decide(original: Any, self: ProtocolClient, *arguments: Any) -> Any:
        nonlocal decisions
        decisions += 1
        if decisions > 60:
            sys.exit(0)
        return original(self, *arguments)

    around(ProtocolClient, "_decide", decide)


@breaks("two-matches", also=("last-events", "digest", "nonce-without-a-seed"))
def reply_to_the_latest_match() -> None:
    latest = ""

    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        nonlocal latest
        request = original(self, message)
        response = PlayResponse.FromString(message)
        if response.HasField("match_started"):
            latest = response.match_started.match_id
        if response.HasField("decision") and request is not None:
            request.reply.match_id = latest
        return request

    around(ProtocolClient, "handle", handle)


@breaks("one-match-after-another", also=("transcript-names",))
def play_a_single_match() -> None:
    over = False

    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        nonlocal over
        response = PlayResponse.FromString(message)
        if response.HasField("match_started") and over:
            return None
        request = original(self, message)
        if response.HasField("match_ended") and not response.match_ended.void:
            over = True
        return request

    around(ProtocolClient, "handle", handle)


@breaks("goodbye-in-a-match", also=("match-that-ended-meanwhile",))
def complain_about_an_early_goodbye() -> None:
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        if PlayResponse.FromString(message).HasField("goodbye") and self.open_matches:
            sys.exit(1)
        return original(self, message)

    around(ProtocolClient, "handle", handle)


@breaks("slow-referee")
def wait_busily() -> None:
    last = time.monotonic()

    def spin() -> None:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if time.monotonic() - last < 0.5:
                time.sleep(0.01)

    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        nonlocal last
        last = time.monotonic()
        return original(self, message)

    around(ProtocolClient, "handle", handle)
    threading.Thread(target=spin, daemon=True).start()


@breaks("one-stream-at-a-time")
def dial_twice_after_a_break() -> None:
    broken = False

    def play(original: Any, protocol: ProtocolClient, address: str, credentials: Any) -> Any:
        nonlocal broken
        if broken:
            later(0.4, _open_stream, protocol.hello(), address)
        reason = original(protocol, address, credentials)
        broken = "as the case demands" in reason
        return reason

    around(client, "_play_stream", play)


def _open_stream(hello: PlayRequest, address: str) -> None:
    """Open a stream of the same bot, and keep it open for a while."""
    requests: SimpleQueue[PlayRequest] = SimpleQueue()
    requests.put(hello)
    with grpc.insecure_channel(address) as channel:
        call: Any = channel.stream_stream(
            "/asara.v1.PlayService/Play", request_serializer=PlayRequest.SerializeToString
        )
        opened = call(iter(requests.get, None))
        time.sleep(2)
        opened.cancel()


@breaks("no-request-unasked", also=("large-messages",))
def answer_before_being_asked() -> None:
    opened: list[BlockingStream] = []
    number = 0

    def open_stream(address: str, credentials: Any) -> Stream:
        opened.append(BlockingStream(address, credentials))
        return opened[-1]

    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        nonlocal number
        response = PlayResponse.FromString(message)
        if response.HasField("match_started"):
            request = PlayRequest(reply=Reply(match_id=response.match_started.match_id))
            later(0.4, send_unless_asked, request, number + 1)
        number += 1
        return original(self, message)

    def send_unless_asked(request: PlayRequest, begun: int) -> None:
        if number == begun:
            opened[-1].send(request)

    put(client, "open_stream", open_stream)
    around(ProtocolClient, "handle", handle)
