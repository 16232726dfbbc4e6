"""Breakages of cases in `04-rejections.yaml`."""

import sys
from functools import partial
from typing import Any

from asara import protocol_client
from asara.protocol_client import ProtocolClient
from asara.v1.play_pb2 import PlayRequest, RejectionReason
from tests.conformance.breakages.breakage import around, breaks


def when_rejected(wrapper: Any) -> None:
    """Call `wrapper(original, client, rejection, message)` for every rejection."""
    around(ProtocolClient, "_handle_rejection", wrapper)


def is_for(rejection: Any, reason: str) -> bool:
    number: int = RejectionReason.Value(f"REJECTION_REASON_{reason}")
    return bool(rejection.reason == number)


@breaks("rejected-empty")
def say_nothing() -> None:
    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        protocol_client.log.disabled = is_for(rejection, "EMPTY")
        return original(self, rejection, message)

    when_rejected(handle)


@breaks("rejected-illegal-action", also=("rejected-several-times", "rejected-answer-repeated"))
def send_the_same_again() -> None:
    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        if not is_for(rejection, "ILLEGAL_ACTION"):
            return original(self, rejection, message)
        active = self._matches[rejection.match_id]
        before = PlayRequest()
        before.CopyFrom(active.request)
        return before if original(self, rejection, message) is not None else None

    when_rejected(handle)


def answer_all_but(reason: str) -> None:
    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        request = original(self, rejection, message)
        return None if is_for(rejection, reason) else request

    when_rejected(handle)


for unanswered in ("UNKNOWN_ACTION", "UNKNOWN_DECISION"):
    case = f"rejected-{unanswered.lower().replace('_', '-')}"
    breaks(case)(partial(answer_all_but, unanswered))


@breaks("rejected-too-many-actions")
def leave_the_match() -> None:
    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        if is_for(rejection, "TOO_MANY_ACTIONS"):
            sys.exit(1)
        return original(self, rejection, message)

    when_rejected(handle)


@breaks("rejected-for-an-unknown-reason")
def look_up_the_reason() -> None:
    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        RejectionReason.Name(rejection.reason)
        return original(self, rejection, message)

    when_rejected(handle)


@breaks("rejected-several-times")
def answer_one_rejection() -> None:
    answered: set[tuple[str, int]] = set()

    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        request = original(self, rejection, message)
        key = rejection.match_id, rejection.decision_id
        if key in answered:
            return None
        answered.add(key)
        return request

    when_rejected(handle)


@breaks("rejected-answer-repeated")
def repeat_the_first_answer() -> None:
    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        active = self._matches.get(rejection.match_id)
        first = active and active.request
        request = original(self, rejection, message)
        if active is not None and request is not None:
            active.request = first or request
        return request

    when_rejected(handle)


@breaks("stale-rejection")
def answer_a_stale_rejection() -> None:
    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        request = original(self, rejection, message)
        active = self._matches.get(rejection.match_id)
        if request is None and active is not None and rejection.legal_actions:
            return active.request
        return request

    when_rejected(handle)


@breaks("rejection-without-actions")
def expect_legal_actions() -> None:
    def handle(original: Any, self: ProtocolClient, rejection: Any, message: bytes) -> Any:
        rejection.legal_actions[0]
        return original(self, rejection, message)

    when_rejected(handle)
