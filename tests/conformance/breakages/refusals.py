"""Breakages of cases in `03-refusals.yaml`."""

import sys
from itertools import count
from typing import Any

import grpc

from asara import client, errors
from asara.protocol_client import ProtocolClient
from tests.conformance.breakages.breakage import around, breaks, put
from tests.conformance.breakages.streams import count_streams


def retried(status: str) -> None:
    put(client, "_RETRYABLE", client._RETRYABLE | {grpc.StatusCode[status]})


@breaks("refused-unknown-token", also=("token-is-secret",))
def dial_again_after_unauthenticated() -> None:
    retried("UNAUTHENTICATED")


@breaks("final-reason", also=("refused-replaced", "transcript-of-an-open-match"))
@breaks("refused-replaced", also=("final-reason", "transcript-of-an-open-match"))
def replace_in_turn() -> None:
    retried("ABORTED")


@breaks("refused-protocol-version")
def dial_again_after_failed_precondition() -> None:
    retried("FAILED_PRECONDITION")


@breaks("refused-invalid-argument")
def dial_again_after_invalid_argument() -> None:
    retried("INVALID_ARGUMENT")


@breaks("refused-request-rate")
def dial_again_after_resource_exhausted() -> None:
    retried("RESOURCE_EXHAUSTED")


@breaks("refused-unimplemented")
def dial_again_after_unimplemented() -> None:
    retried("UNIMPLEMENTED")


@breaks("refused-in-many-lines")
def print_details_as_they_are() -> None:
    put(errors, "_line", lambda text: text or "no details")


@breaks("token-is-not-printed", also=("token-is-secret",))
def print_the_token_in_a_match() -> None:
    messages = count()

    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        if next(messages) == 4:  # no refusal comes later
            sys.stderr.write(f"playing with {self._settings.token}\n")
        return original(self, message)

    around(ProtocolClient, "handle", handle)


@breaks("token-is-secret")
def print_the_token() -> None:
    streams = count_streams()

    def hello(original: Any, self: ProtocolClient) -> Any:
        if len(streams) > 1:
            sys.stderr.write(f"dialling again with {self._settings.token}\n")
        return original(self)

    around(ProtocolClient, "hello", hello)
