"""Breakages of cases in `04-rejections.yaml`."""

import sys
from functools import partial
from typing import Any

from asara import protocol_client
from asara.protocol_client import ProtocolClient
from asara.v1.play_pb2 import PlayRequest, RejectionReason
from tests.conformance.breakages.breakage import around, breaks

when_rejected = around(ProtocolClient, "_handle_rejection")
"""Decorates `wrapper(original, client, rejection, message)`, called for every rejection."""


def is_for(rejection: Any, reason: str) -> bool:
    number: int = RejectionReason.Value(f"REJECTION_REASON_{reason}")
    return bool(rejection.reason == number)


@breaks("rejected-empty", ProtocolClient, "_handle_rejection")
def say_nothing(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
    protocol_client.log.disabled = is_for(rejection, "EMPTY")
    return original(self, rejection, message)


@breaks("rejected-illegal-action", ProtocolClient, "_handle_rejection")
def send_the_same_again(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
    if not is_for(rejection, "ILLEGAL_ACTION"):
        return original(self, rejection, message)
    active = self._matches[rejection.match_id]
    before = PlayRequest()
    before.CopyFrom(active.request)
    return before if original(self, rejection, message) is not None else None


def answer_all_but(reason: str) -> None:
    @when_rejected
    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        request = original(self, rejection, message)
        return None if is_for(rejection, reason) else request


for unanswered in ("UNKNOWN_ACTION", "UNKNOWN_DECISION"):
    case = f"rejected-{unanswered.lower().replace('_', '-')}"
    breaks(case)(partial(answer_all_but, unanswered))


@breaks("rejected-too-many-actions", ProtocolClient, "_handle_rejection")
def leave_the_match(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
    if is_for(rejection, "TOO_MANY_ACTIONS"):
        sys.exit(1)
    return original(self, rejection, message)


@breaks("rejected-for-an-unknown-reason", ProtocolClient, "_handle_rejection")
def look_up_the_reason(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
    RejectionReason.Name(rejection.reason)
    return original(self, rejection, message)


@breaks("rejected-several-times")
def answer_one_rejection() -> None:
    answered: set[tuple[str, int]] = set()

    @when_rejected
    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        request = original(self, rejection, message)
        key = rejection.match_id, rejection.decision_id
        if key in answered:
            return None
        answered.add(key)
        return request


@breaks("rejected-answer-repeated", ProtocolClient, "_handle_rejection")
def repeat_the_first_answer(
    original: Any, self: ProtocolClient, rejection: Any, message: bytes
) -> Any:
    active = self._matches.get(rejection.match_id)
    first = active and active.request
    request = original(self, rejection, message)
    if active is not None and request is not None:
        active.request = first or request
    return request


@breaks("stale-rejection", ProtocolClient, "_handle_rejection")
def answer_a_stale_rejection(
    original: Any, self: ProtocolClient, rejection: Any, message: bytes
) -> Any:
    request = original(self, rejection, message)
    active = self._matches.get(rejection.match_id)
    if request is None and active is not None and rejection.legal_actions:
        return active.request
    return request


@breaks("rejection-without-actions", ProtocolClient, "_handle_rejection")
def expect_legal_actions(
    original: Any, self: ProtocolClient, rejection: Any, message: bytes
) -> Any:
    rejection.legal_actions[0]
    return original(self, rejection, message)
