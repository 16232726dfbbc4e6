"""The rules of ASARA: states, decisions and views. Standard library only; no clock, no I/O.

"Ruling R9" and the like stand in README.md of this package.
"""

from .actions import (
    Action,
    BuildCount,
    ChooseBuyer,
    ChooseSpace,
    Decline,
    ExtendTower,
    FoundTower,
    KeepLitWindows,
    LayBuyers,
    LightWindow,
    PayOffer,
    ReturnLitWindow,
    SearchPile,
    TakeSection,
    Wish,
    format_section,
    format_space,
    parse_action,
    parse_space,
)
from .deal import Deal, RandomShuffler, Shuffler
from .edition import Edition, EditionError, load_edition, parse_edition
from .engine import apply, decision, legal_actions, new_match, outcome
from .events import Event
from .knowledge.determinize import determinize
from .knowledge.history import History
from .knowledge.worlds import Worlds
from .rules import RULE_COMBINATIONS, RULES_VERSION, Rules, format_rule_sets, parse_rule_sets
from .scoring import Outcome
from .state import Decision, Dispatched, IllegalAction, State
from .view import PrivateView, PublicView, RunningView, SeatView, View, public_view, view

__all__ = [
    "RULES_VERSION",
    "RULE_COMBINATIONS",
    "Action",
    "BuildCount",
    "ChooseBuyer",
    "ChooseSpace",
    "Deal",
    "Decision",
    "Decline",
    "Dispatched",
    "Edition",
    "EditionError",
    "Event",
    "ExtendTower",
    "FoundTower",
    "History",
    "IllegalAction",
    "KeepLitWindows",
    "LayBuyers",
    "LightWindow",
    "Outcome",
    "PayOffer",
    "PrivateView",
    "PublicView",
    "RandomShuffler",
    "ReturnLitWindow",
    "Rules",
    "RunningView",
    "SearchPile",
    "SeatView",
    "Shuffler",
    "State",
    "TakeSection",
    "View",
    "Wish",
    "Worlds",
    "apply",
    "decision",
    "determinize",
    "format_rule_sets",
    "format_section",
    "format_space",
    "legal_actions",
    "load_edition",
    "new_match",
    "outcome",
    "parse_action",
    "parse_edition",
    "parse_rule_sets",
    "parse_space",
    "public_view",
    "view",
]
