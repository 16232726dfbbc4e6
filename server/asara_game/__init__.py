"""The rules of ASARA: states, decisions, views. Standard library only; no clock, no I/O."""

from .actions import *
from .deal import Deal, RandomShuffler, Shuffler
from .edition import Edition, EditionError, load_edition, parse_edition
from .engine import apply, decision, legal_actions, new_match, outcome
from .events import Event
from .rules import RULE_COMBINATIONS, RULES_VERSION, Rules, format_rule_sets, parse_rule_sets
from .scoring import Outcome
from .state import Decision, Dispatched, IllegalAction, State
