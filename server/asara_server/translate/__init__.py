"""The one module between game types and protobuf, shared by the referee and by bots that search.

For the referee, `decision_bytes`, `update_bytes` and the like return whole responses as bytes, and
`action_from_proto` reads what a bot answers. For a bot, `rules_from_proto`, `view_from_proto` and
`event_from_proto` read what the referee sends, and `action_message` is its answer.
"""

from asara_server.translate.decode import (
    UnknownAction,
    action_from_proto,
    clocks_from_proto,
    event_from_proto,
    result_from_proto,
)
from asara_server.translate.editions import edition_from_proto, edition_message, rules_from_proto
from asara_server.translate.encode import (
    action_message,
    clocks_message,
    event_bytes,
    event_message,
    result_message,
)
from asara_server.translate.messages import (
    decision_bytes,
    goodbye_bytes,
    match_ended_bytes,
    match_started_bytes,
    match_summary,
    rejection_bytes,
    update_bytes,
    watch_ended_bytes,
    watch_started_bytes,
    watch_update_bytes,
    welcome_bytes,
)
from asara_server.translate.mirror import TranslationError
from asara_server.translate.read_views import public_from_proto, view_from_proto
from asara_server.translate.terms import Clocks, Limits

__all__ = [
    "Clocks",
    "Limits",
    "TranslationError",
    "UnknownAction",
    "action_from_proto",
    "action_message",
    "clocks_from_proto",
    "clocks_message",
    "decision_bytes",
    "edition_from_proto",
    "edition_message",
    "event_bytes",
    "event_from_proto",
    "event_message",
    "goodbye_bytes",
    "match_ended_bytes",
    "match_started_bytes",
    "match_summary",
    "public_from_proto",
    "rejection_bytes",
    "result_from_proto",
    "result_message",
    "rules_from_proto",
    "update_bytes",
    "view_from_proto",
    "watch_ended_bytes",
    "watch_started_bytes",
    "watch_update_bytes",
    "welcome_bytes",
]
