"""Write a bot for ASARA: a function that chooses one of the legal actions of a decision.

    import asara

    def decide(decision, match):
        return match.random_action(decision)

    asara.run(decide)

`run` connects to the referee whose address is in the environment, plays every match it is assigned
and returns when the referee sends Goodbye. A bot with memory is a subclass of `Bot`. The protocol's
messages and enums are available under their own names: `asara.Decision`, `asara.Area.AREA_BANK`.
`help(asara.Bot)` lists the methods of a bot, and `help(asara.Match)` what it knows about its match.

The .proto files document the fields of every message: `asara proto DIR` writes the files to DIR.
`list(asara.Decision.DESCRIPTOR.fields_by_name)` lists the names of one message's fields.
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
from asara.errors import AsaraError as AsaraError
from asara.errors import BotError as BotError
from asara.errors import ConfigurationError as ConfigurationError
from asara.errors import ConnectionLostError as ConnectionLostError
from asara.errors import RefusedError as RefusedError
from asara.settings import Settings
from asara.v1.event_pb2 import Event as Event
from asara.v1.event_pb2 import Termination as Termination
from asara.v1.play_pb2 import Clocks as Clocks
from asara.v1.play_pb2 import Decision as Decision
from asara.v1.play_pb2 import DecisionKind as DecisionKind
from asara.v1.play_pb2 import Limits as Limits
from asara.v1.play_pb2 import MatchEnded as MatchEnded
from asara.v1.play_pb2 import MatchStarted as MatchStarted
from asara.v1.play_pb2 import Rejection as Rejection
from asara.v1.play_pb2 import RejectionReason as RejectionReason
from asara.v1.play_pb2 import SeatResult as SeatResult
from asara.v1.view_pb2 import AreaView as AreaView
from asara.v1.view_pb2 import Chest as Chest
from asara.v1.view_pb2 import Dispatched as Dispatched
from asara.v1.view_pb2 import FaceDown as FaceDown
from asara.v1.view_pb2 import KnownLitWindow as KnownLitWindow
from asara.v1.view_pb2 import Market as Market
from asara.v1.view_pb2 import PrivateView as PrivateView
from asara.v1.view_pb2 import PublicView as PublicView
from asara.v1.view_pb2 import SeatView as SeatView
from asara.v1.view_pb2 import View as View
from asara.v1.vocabulary_pb2 import Action as Action
from asara.v1.vocabulary_pb2 import Area as Area
from asara.v1.vocabulary_pb2 import Award as Award
from asara.v1.vocabulary_pb2 import BuildCount as BuildCount
from asara.v1.vocabulary_pb2 import BuyerColour as BuyerColour
from asara.v1.vocabulary_pb2 import BuyerCount as BuyerCount
from asara.v1.vocabulary_pb2 import ChooseBuyer as ChooseBuyer
from asara.v1.vocabulary_pb2 import ChooseSpace as ChooseSpace
from asara.v1.vocabulary_pb2 import Colour as Colour
from asara.v1.vocabulary_pb2 import ColourInfo as ColourInfo
from asara.v1.vocabulary_pb2 import Decline as Decline
from asara.v1.vocabulary_pb2 import Edition as Edition
from asara.v1.vocabulary_pb2 import ExtendTower as ExtendTower
from asara.v1.vocabulary_pb2 import FoundTower as FoundTower
from asara.v1.vocabulary_pb2 import GiftCard as GiftCard
from asara.v1.vocabulary_pb2 import GiftCount as GiftCount
from asara.v1.vocabulary_pb2 import GiftKind as GiftKind
from asara.v1.vocabulary_pb2 import KeepLitWindows as KeepLitWindows
from asara.v1.vocabulary_pb2 import LayBuyers as LayBuyers
from asara.v1.vocabulary_pb2 import LightWindow as LightWindow
from asara.v1.vocabulary_pb2 import LitWindowOffer as LitWindowOffer
from asara.v1.vocabulary_pb2 import PayOffer as PayOffer
from asara.v1.vocabulary_pb2 import ReturnLitWindow as ReturnLitWindow
from asara.v1.vocabulary_pb2 import RuleSet as RuleSet
from asara.v1.vocabulary_pb2 import SearchPile as SearchPile
from asara.v1.vocabulary_pb2 import Section as Section
from asara.v1.vocabulary_pb2 import SectionKind as SectionKind
from asara.v1.vocabulary_pb2 import Space as Space
from asara.v1.vocabulary_pb2 import SpaceInfo as SpaceInfo
from asara.v1.vocabulary_pb2 import TakeSection as TakeSection
from asara.v1.vocabulary_pb2 import TileCount as TileCount
from asara.v1.vocabulary_pb2 import Tower as Tower
from asara.v1.vocabulary_pb2 import Wish as Wish

if TYPE_CHECKING:
    from asara.text import format_action, parse_action

# What help() shows. Messages, enums and errors are public, too.
__all__ = [
    "Answer",
    "Bot",
    "Match",
    "Settings",
    "format_action",
    "parse_action",
    "play",
    "run",
]


def __getattr__(name: str) -> object:
    """Import the text form of actions on first use: most bots never need it."""
    if name in {"format_action", "parse_action"}:
        from asara import text

        found: object = globals().setdefault(name, getattr(text, name))
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
