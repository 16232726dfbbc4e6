"""Validates names of entries and tokens, which are used in file names, tables and command lines.

Names that look different are different. A name uses one script and one writing direction, and has
no invisible characters.
"""

import re
import unicodedata
from typing import Final

MAX_NAME: Final = 40
"""Maximum number of characters in a name."""
_SIGNS: Final = " ._+-"
_KINDS: Final = ("L", "Nd", "Mn", "Mc")
"""Unicode categories of letters, digits, and marks on letters."""
_MOST_MARKS: Final = 2
_INVISIBLE: Final = re.compile("FILLER|VARIATION SELECTOR|GRAPHEME JOINER|VOWEL INHERENT")
_RIGHT_TO_LEFT: Final = ("R", "AL", "AN")
_EAST_ASIAN: Final = frozenset(
    ("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "BOPOMOFO", "HANGUL")
)
"""East Asian scripts that may be mixed, given by the first words of their characters' names."""


def name_fault(name: str) -> str:
    """Describe the fault of a name, or return "" if the name is valid."""
    if not name or name != " ".join(name.split()) or len(name) > MAX_NAME:
        return f"must have 1 to {MAX_NAME} characters, with single spaces inside only"
    if name != (usual := unicodedata.normalize("NFKC", name)):
        return f"{name!r} has characters with another usual form; write {usual!r}"
    script = ""
    for place, char in enumerate(name):
        if char in _SIGNS:
            fault = "" if place else "cannot be the first; begin with a letter or digit"
        else:
            fault = _char_fault(char) or _mark_fault(name[: place + 1])
            mine = "" if char.isascii() and char.isdecimal() else _script(char)
            if not fault and mine and script and mine != script:
                fault = "is of another script than those before it; use one script"
            script = mine or script
        if fault:
            which = f"character {place + 1}, {_unicode_name(char)},"
            return f"{name!r} cannot be a name, because its {which} {fault}"
    return ""


def _char_fault(char: str) -> str:
    if not unicodedata.category(char).startswith(_KINDS):
        return "cannot be part of a file name; use letters, digits, . _ + -"
    if _INVISIBLE.search(unicodedata.name(char, "")):
        return "is invisible; leave it out"
    if unicodedata.bidirectional(char) in _RIGHT_TO_LEFT:
        return "is written from right to left, which reorders tables; use another script"
    return ""


def _mark_fault(beginning: str) -> str:
    """Return the fault of a last character that is a mark without a letter to carry it."""
    if all(unicodedata.category(char)[0] == "M" for char in beginning[-_MOST_MARKS - 1 :]):
        return f"is not one of up to {_MOST_MARKS} marks on a letter; leave it out"
    return ""


def _script(char: str) -> str:
    """Return the first word of a character's Unicode name, which is the name of its script."""
    word = unicodedata.name(char, "").partition(" ")[0]
    return "CJK" if word in _EAST_ASIAN else word


def _unicode_name(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()
