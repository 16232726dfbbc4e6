"""Breakages of cases in `05-later-versions.yaml`."""

from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet

from asara import protocol_client, stream
from asara.protocol_client import ProtocolClient
from asara.v1.event_pb2 import Termination
from asara.v1.play_pb2 import DecisionKind, PlayResponse, Update
from asara.v1.vocabulary_pb2 import RuleSet
from tests.conformance.breakages.breakage import around, breaks, put


def look_at(look: Any) -> None:
    """Call `look(client, response)` for every message, before it is handled."""

    @around(ProtocolClient, "handle")
    def handle(original: Any, self: ProtocolClient, message: bytes) -> Any:
        look(self, PlayResponse.FromString(message))
        return original(self, message)


@breaks("update-not-asked-for")
def ignore_updates() -> None:
    """Ignore an Update, unless it comes first on a stream, with the events that were missed."""
    first = True

    @look_at
    def look(_: ProtocolClient, response: PlayResponse) -> None:
        nonlocal first
        first = first and response.WhichOneof("response") in ("welcome", "update")
        first = first or response.HasField("welcome")

    @around(protocol_client, "_deliver_events")
    def deliver(original: Any, active: Any, message: Any) -> None:
        if first or not isinstance(message, Update):
            original(active, message)


@breaks("unknown-fields")
def refuse_fields_of_fixed_length() -> None:
    fixed = (1, 5)  # wire types

    @look_at
    def look(_: ProtocolClient, response: PlayResponse) -> None:
        fields: Any = UnknownFieldSet(response)
        if any(field.wire_type in fixed for field in fields):
            raise ValueError("an unknown field")


@breaks("unknown-enum-values")
def look_up_names() -> None:
    @look_at
    def look(_: ProtocolClient, response: PlayResponse) -> None:
        for rule_set in response.match_started.rule_sets:
            RuleSet.Name(rule_set)
        for result in response.match_ended.results:
            Termination.Name(result.termination)


@breaks("unknown-kind-of-decision", ProtocolClient, "_decide")
def answer_known_kinds_only(
    original: Any, self: ProtocolClient, decision: Any, message: bytes
) -> Any:
    request = original(self, decision, message)
    return request if decision.kind in DecisionKind.values() else None


@breaks("unknown-events", protocol_client, "_deliver_events")
def expect_a_known_event(original: Any, active: Any, message: Any) -> None:
    for event in message.events:
        getattr(event, event.WhichOneof("event"))
    original(active, message)


@breaks("unknown-response")
def expect_a_known_response() -> None:
    @look_at
    def look(_: ProtocolClient, response: PlayResponse) -> None:
        getattr(response, response.WhichOneof("response") or "no member")


@breaks("unknown-match")
def expect_a_known_match() -> None:
    @look_at
    def look(self: ProtocolClient, response: PlayResponse) -> None:
        if response.HasField("update"):
            self._matches[response.update.match_id]


@breaks("large-messages")
def read_four_mebibytes() -> None:
    options = [option for option in stream._CHANNEL_OPTIONS if "max_receive" not in option[0]]
    put(stream, "_CHANNEL_OPTIONS", tuple(options))
