"""Vectors of actions and of the random rule, for clients in every language."""

from typing import Any

from asara.random_choice import random_index
from asara.text import format_action
from asara.v1.vocabulary_pb2 import Action, ChooseSpace, Section, Space, TakeSection
from asara_codec.encode import action_message
from asara_game.actions import parse_action
from tests.codec.every_action import ACTIONS

# Values that a later version of the protocol may add, and an action of an unknown kind.
LATER = [
    Action(choose_space=ChooseSpace(space=Space(area=77, number=3))),  # type: ignore[arg-type]
    Action(
        take_section=TakeSection(section=Section(kind=99, colour=88))  # type: ignore[arg-type]
    ),
    Action(),
]

INVALID = [
    "",
    "no action",
    "build",
    "build 3 4",
    "build 03",
    "build -1",
    "build +1",
    "build 1.0",
    "build ٣",
    "build 12345",
    "build three",
    "Build 3",
    "decline 1",
    "dispatch",
    "dispatch bank",
    "dispatch bakn 12",
    "dispatch 77 3",
    "wish bank 12 gold",
    "lay",
    "lay face-down",
    "lay blue green",
    "lay green blue face-down",
    "lay blue yellow green face-down",
    "lay blue face-down face-down",
    "lay red",
    "take trunk red",
    "take red trunk golden",
    "take unspecified trunk",
    "search 99",
    "found red gold-turret gold-base",
    "extend red trunk",
    "light 1 gold gold",
    "keep",
    "keep white red",
    "keep red 88",
    "choose red",
    "return blue",
    "sell red trunk",
]

# Seed, name of the match, seat, number of the decision, number of legal actions.
CHOICES = [
    ("1", "m1", 0, 1, 2),
    ("1", "m1", 0, 2, 2),
    ("1", "m1", 1, 1, 2),
    ("1", "m2", 0, 1, 2),
    ("2", "m1", 0, 1, 2),
    ("1", "m1", 0, 1, 1),
    ("1", "m1", 0, 1, 47),
    ("1", "m1", 3, 10, 1_000_003),
    ("tournée ✓", "r1-pro+gifts-0007", 2, 123, 31),
    ("12/3", "m", 1, 1, 1_000),
    ("0", "r1-basic-0001", 3, 4_294_967_296, 97),
]


def actions() -> dict[str, Any]:
    """Every kind of action, as text and as message."""
    return {
        "about": [
            "The text form of actions, and the bytes of the message asara.v1.Action.",
            "actions: formatting the message gives the text, and parsing the text the message.",
            "unparsable: actions that clients format, and whose text they refuse, because this",
            "version does not know the value or kind. invalid: texts that clients refuse with an",
            "error, because they are no action or are not in canonical form.",
        ],
        "actions": [
            {"text": str(action), "hex": action_message(action).SerializeToString().hex()}
            for action in ACTIONS
        ],
        "unparsable": [
            {"text": format_action(action), "hex": action.SerializeToString().hex()}
            for action in LATER
        ],
        "invalid": [text for text in INVALID if _refused(text)],
    }


def _refused(text: str) -> bool:
    """Return True, which the referee's own parser confirms."""
    try:
        parse_action(text)
    except ValueError:
        return True
    raise AssertionError(text)


def random_actions() -> dict[str, Any]:
    """The indices that the rule of the random starters chooses."""
    return {
        "about": [
            "Choices of the random starters, see proto/README.md: index is the big-endian",
            "number in the first 8 bytes of SHA-256(seed '/' match_id '/' seat '/' decision_id),",
            "modulo count, the number of legal actions. The text is UTF-8.",
        ],
        "choices": [
            {
                "seed": seed,
                "match_id": match_id,
                "seat": seat,
                "decision_id": decision_id,
                "count": count,
                "index": random_index(seed, match_id, seat, decision_id, count),
            }
            for seed, match_id, seat, decision_id, count in CHOICES
        ],
    }
