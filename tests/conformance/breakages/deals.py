"""Breakages of cases in `06-deals.yaml`."""

import os
from functools import partial
from typing import Any

from asara import protocol_client
from asara.protocol_client import ProtocolClient
from asara.v1.play_pb2 import LastEvent, PlayRequest
from asara.verifier import Verifier
from tests.conformance.breakages.breakage import around, breaks


@breaks("nonce", protocol_client, "make_nonce")
def send_half_a_nonce(original: Any, seed: Any, match_id: str, seat: int) -> Any:
    return original(seed, match_id, seat)[: 16 if seat else 32]


@breaks("joint-deal", protocol_client, "make_nonce")
def expect_a_number_as_seed(original: Any, seed: Any, match_id: str, seat: int) -> Any:
    known = seed if seed and str(seed).isdecimal() else None
    return original(known, match_id, seat)


@breaks("joint-deal-repeated", Verifier, "deal_committed")
def make_another_nonce(
    original: Any, self: Verifier, committed: Any, message: bytes, nonce: Any
) -> Any:
    request = original(self, committed, message, nonce)
    self._nonce = nonce
    request.nonce.nonce = nonce
    return request


@breaks("nonce-without-a-seed")
def use_one_nonce() -> None:
    only = os.urandom(32)

    @around(protocol_client, "make_nonce")
    def make(original: Any, seed: Any, match_id: str, seat: int) -> Any:
        return original(seed, match_id, seat) if seed else only


def keep_silent_about(text: str) -> None:
    @around(Verifier, "_report_violation")
    def report(original: Any, self: Verifier, violation: str) -> None:
        if text not in violation:
            original(self, violation)


@breaks("another-secret", Verifier, "_report_violation")
def trust_any_secret(original: Any, self: Verifier, violation: str) -> None:
    if "does not open" not in violation or "(none)" in violation:
        original(self, violation)


for case, text in {
    "another-commitment": "was changed to",
    "deal-without-the-nonce": "without the nonce",
    "withheld-secret": "the secret (none)",
}.items():
    breaks(case)(partial(keep_silent_about, text))


@breaks("shared-deal", Verifier, "match_started")
def miss_the_secret_of_a_shared_deal(original: Any, self: Verifier, message: Any) -> None:
    original(self, message)
    self._shared_deal = False


@breaks("void-match", Verifier, "match_ended")
def miss_the_secret_of_a_void_match(original: Any, self: Verifier, message: Any) -> None:
    message.void = False
    original(self, message)


@breaks("cancelled-deal")
def remember_cancelled_matches() -> None:
    cancelled: list[str] = []

    @around(ProtocolClient, "_end_match")
    def ended(original: Any, self: ProtocolClient, message: Any, raw: bytes) -> None:
        if message.match_id in self._pending:
            cancelled.append(message.match_id)
        original(self, message, raw)

    @around(ProtocolClient, "hello")
    def hello(original: Any, self: ProtocolClient) -> PlayRequest:
        request: PlayRequest = original(self)
        request.hello.last_events.extend(LastEvent(match_id=name) for name in cancelled)
        return request
