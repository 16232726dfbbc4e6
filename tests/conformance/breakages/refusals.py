"""Breakages of cases in `03-refusals.yaml`."""

import sys
from functools import partial
from itertools import count
from typing import Any

import grpc

from asara import client, errors
from asara.protocol_client import ProtocolClient
from tests.conformance.breakages.breakage import around, breaks, put
from tests.conformance.breakages.streams import count_streams


def retried(status: str) -> None:
    put(client, "_RETRYABLE", client._RETRYABLE | {grpc.StatusCode[status]})


FINAL = {
    "refused-unknown-token": "UNAUTHENTICATED",
    "refused-replaced": "ABORTED",
    "final-reason": "ABORTED",
    "refused-protocol-version": "FAILED_PRECONDITION",
    "refused-invalid-argument": "INVALID_ARGUMENT",
    "refused-request-rate": "RESOURCE_EXHAUSTED",
    "refused-unimplemented": "UNIMPLEMENTED",
}
"""Statuses after which no client dials again."""

for case, status in FINAL.items():
    breaks(case)(partial(retried, status))


@breaks("refused-in-many-lines")
def print_details_as_they_are() -> None:
    put(errors, "_line", lambda text: text or "no details")


@breaks("token-is-not-printed")
def print_the_token_in_a_match() -> None:
    messages = count()

    @around(ProtocolClient, "handle")
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        if next(messages) == 4:  # no refusal comes later
            sys.stderr.write(f"playing with {self._settings.token}\n")
        return original(self, message)


@breaks("token-is-secret")
def print_the_token() -> None:
    streams = count_streams()

    @around(ProtocolClient, "hello")
    def hello(original: Any, self: ProtocolClient) -> Any:
        if len(streams) > 1:
            sys.stderr.write(f"dialling again with {self._settings.token}\n")
        return original(self)
