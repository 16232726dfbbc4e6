"""Matches, reconstructed from the messages that the bot has passed on."""

from __future__ import annotations

import binascii
from base64 import b64decode
from copy import copy
from random import Random
from typing import Any, TypeVar

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message

from asara.v1.play_pb2 import Decision, MatchStarted, PlayResponse
from asara_codec.editions import rules_from_proto
from asara_search.evaluation import Estimator
from asara_search.policies import GreedyPolicy, Policy, RandomPolicy
from asara_search.worlds import history, world

from .request import RequestError, quoted

__all__ = ["MESSAGES", "POLICIES", "ReceivedMatch", "read_message"]

MESSAGES = ("match_started", "update", "decision", "rejection", "match_ended")
"""Members of PlayResponse that belong to a match and concern its seat."""
POLICIES = ("greedy", "random")
_MOST_BYTES = 64 << 20
"""Maximum total size of a match's messages in bytes; the longest matches have about 1 MiB."""

_M = TypeVar("_M", bound=Message)


class ReceivedMatch:
    """One match: the messages that `asara_search.world` needs, and the objects that play it out.

    Raises ValueError if the rules are invalid.
    """

    def __init__(self, response: PlayResponse) -> None:
        self.started: MatchStarted = response.match_started
        self.match_id = self.started.match_id
        self.seat = self.started.seat
        self.rules = rules_from_proto(self.started)
        if not 0 <= self.seat < self.rules.seats:
            raise RequestError(f"match_started: there is no seat {self.seat}")
        self.messages = [response.SerializeToString()]
        self.decision: Decision | None = None
        """The latest decision; None before the first."""
        self.size = len(self.messages[0])
        self.estimator = Estimator(self.rules)
        self.policies: dict[str, Policy] = {
            "greedy": GreedyPolicy(self.rules),
            "random": RandomPolicy(),
        }
        history(self)

    def receive(self, response: PlayResponse) -> None:
        """Add a message. Raise ValueError if it does not fit (see `before`)."""
        data = response.SerializeToString()
        if self.size + len(data) > _MOST_BYTES:
            raise RequestError(f"more than {_MOST_BYTES:,} bytes of messages of {self.match_id!r}")
        if response.HasField("match_started") and response.match_started.seat != self.seat:
            raise RequestError(
                f"match_started: seat {response.match_started.seat}, but the match began with "
                f"seat {self.seat}"
            )
        self.messages.append(data)
        history(self)
        self.size += len(data)
        if response.HasField("decision"):
            world(response.decision, self, Random(0))  # raises if it contradicts the match
            self.decision = response.decision

    def before(self, messages: int) -> ReceivedMatch:
        """Return the match as it was after its first `messages` messages, to be read again."""
        earlier = copy(self)
        earlier.messages = self.messages[:messages]
        return earlier


def read_message(value: Any, message: _M, name: str) -> _M:
    """Fill in and return a message. The value is Base64 of its bytes, or its JSON form."""
    try:
        if isinstance(value, str):
            message.ParseFromString(b64decode(value, validate=True))
        elif isinstance(value, dict):
            json_format.ParseDict(value, message, ignore_unknown_fields=True)
        else:
            raise RequestError(
                f"{name}: Base64 of the message, or its JSON form, is needed, not {quoted(value)}"
            )
    except binascii.Error as error:
        raise RequestError(f"{name}: not Base64: {error}") from None
    except DecodeError:
        raise RequestError(f"{name}: not the bytes of such a message") from None
    except json_format.ParseError as error:
        raise RequestError(f"{name}: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise RequestError(f"{name}: it is nested too deeply") from None
    return message
