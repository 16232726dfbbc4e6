"""Write a bot for ASARA: a function that chooses one of the legal actions of a decision.

    import asara

    def decide(decision, match):
        return match.random_action(decision)

    asara.run(decide)

`run` connects to the referee named by the environment, plays every match it is assigned and
returns when the referee sends Goodbye. A bot with memory is a subclass of `Bot`. Messages and
enums of the protocol are available under their own names: `asara.Decision`, `asara.Area.AREA_BANK`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

# gRPC reads both when it is imported. Its event engine, which Python has had since 1.80, reads
# every socket in a thread of its own; without it, a decision takes a quarter less processor time.
# Its older poller may leave calls waiting on a channel whose connection breaks, so only bots beside
# the referee use it. A release without this experiment would complain of its name.
if os.environ.get("ASARA_ADDRESS", "").startswith("unix:"):
    os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")

from asara.bot import Answer, Bot, Match
from asara.client import play, run
from asara.errors import AsaraError, BotError, ConfigurationError, ConnectionLostError, RefusedError
from asara.settings import Settings
from asara.v1.event_pb2 import Event, Termination
from asara.v1.play_pb2 import (
    Clocks,
    Decision,
    DecisionKind,
    Limits,
    MatchEnded,
    MatchStarted,
    Rejection,
    RejectionReason,
    SeatResult,
)
from asara.v1.view_pb2 import (
    AreaView,
    Chest,
    Dispatched,
    FaceDown,
    KnownLitWindow,
    Market,
    PrivateView,
    PublicView,
    SeatView,
    View,
)
from asara.v1.vocabulary_pb2 import (
    Action,
    Area,
    Award,
    BuildCount,
    BuyerColour,
    BuyerCount,
    ChooseBuyer,
    ChooseSpace,
    Colour,
    ColourInfo,
    Decline,
    Edition,
    ExtendTower,
    FoundTower,
    GiftCard,
    GiftCount,
    GiftKind,
    KeepLitWindows,
    LayBuyers,
    LightWindow,
    LitWindowOffer,
    PayOffer,
    ReturnLitWindow,
    RuleSet,
    SearchPile,
    Section,
    SectionKind,
    Space,
    SpaceInfo,
    TakeSection,
    TileCount,
    Tower,
    Wish,
)

if TYPE_CHECKING:
    from asara.text import format_action, parse_action

__all__ = [
    "Action",
    "Answer",
    "Area",
    "AreaView",
    "AsaraError",
    "Award",
    "Bot",
    "BotError",
    "BuildCount",
    "BuyerColour",
    "BuyerCount",
    "Chest",
    "ChooseBuyer",
    "ChooseSpace",
    "Clocks",
    "Colour",
    "ColourInfo",
    "ConfigurationError",
    "ConnectionLostError",
    "Decision",
    "DecisionKind",
    "Decline",
    "Dispatched",
    "Edition",
    "Event",
    "ExtendTower",
    "FaceDown",
    "FoundTower",
    "GiftCard",
    "GiftCount",
    "GiftKind",
    "KeepLitWindows",
    "KnownLitWindow",
    "LayBuyers",
    "LightWindow",
    "Limits",
    "LitWindowOffer",
    "Market",
    "Match",
    "MatchEnded",
    "MatchStarted",
    "PayOffer",
    "PrivateView",
    "PublicView",
    "RefusedError",
    "Rejection",
    "RejectionReason",
    "ReturnLitWindow",
    "RuleSet",
    "SearchPile",
    "SeatResult",
    "SeatView",
    "Section",
    "SectionKind",
    "Settings",
    "Space",
    "SpaceInfo",
    "TakeSection",
    "Termination",
    "TileCount",
    "Tower",
    "View",
    "Wish",
    "format_action",
    "parse_action",
    "play",
    "run",
]


def __getattr__(name: str) -> object:
    """Load the text form of actions when it is first used: most bots never do."""
    if name in {"format_action", "parse_action"}:
        from asara import text

        found: object = globals().setdefault(name, getattr(text, name))
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
