"""Text for people: enum names in words, and text of unknown origin made safe to show.

Bots and other people choose names and messages. These may contain characters that control a
terminal, reverse the direction of a line, or cannot be stored in a file. Escaping for HTML, CSV or
markup does not remove such characters. It is done separately, by the code that writes each format.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from asara_codec.results import RejectionReason

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories without a visible shape, such as controls, direction marks and surrogates."""

LONGEST: Final = 300
"""Default limit on the length of a text, in characters."""


def plain(text: str, longest: int | None = LONGEST) -> str:
    r"""Return the text as one line of visible characters; longer text is cut and ends in `…`.

    Each hidden character becomes its code, such as `\u202e`, and each kind of blank becomes a
    space. `longest` counts characters of the original text; None means no limit.
    """
    shown = text[:longest]
    if not shown.isprintable():
        shown = "".join(map(_visible, shown))
    return shown if longest is None or len(text) <= longest else shown + "…"


def plain_lines(text: str) -> str:
    """Return the text with each of its lines made plain."""
    return text if text.isprintable() else "\n".join(plain(line, None) for line in text.split("\n"))


def plain_value(value: Any, make_plain: Callable[[str], str] = plain_lines) -> Any:
    """Return a value with all texts in it made plain, including the keys of tables."""
    if isinstance(value, str):
        return make_plain(value)
    if isinstance(value, Mapping):
        return {
            plain_value(key, make_plain): plain_value(one, make_plain) for key, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain_value(one, make_plain) for one in value]
    return value


def on_one_line(text: str) -> str:
    """Return a text with its lines separated by semicolons, for tables and log lines."""
    return "; ".join(line.strip() for line in text.split("\n"))


def _visible(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Zs":
        return " "
    if category in _HIDDEN:
        return f"\\u{ord(char):04x}" if ord(char) < 1 << 16 else f"\\U{ord(char):08x}"
    return char


_SYSTEM: Final = re.compile(
    r"/(?:bin|sbin|lib|lib64|etc|proc|sys|dev|usr/(?:bin|sbin|lib|lib64|libexec|share|include|local))(?:/|$)"
)
"""First parts of paths that reveal nothing about a user."""
_HOME: Final = re.compile(r"/(?:home|Users)/[^/]+|/[^/]+")
"""Paths whose last part may be a user name."""
_PART = r"[^\s/\"'`<>|:;,=()\[\]{}]+"
_ABSOLUTE: Final = re.compile(
    r"""(?x)
    (?P<quote>["'`]) (?P<quoted> /+ [^/"'`\n]+ / [^"'`\n]+ ) (?P=quote)   # it may hold blanks
    | (?P<bare> (?: file:/+ | (?<![\w.~/-])/ | (?<!\S)-[A-Za-z]/ | (?<![\w.~/:-])/{2,} )
        PART (?: /+ PART )+ /* )
    """.replace("PART", _PART)
)


def without_paths(text: str, private: Sequence[str] = ()) -> str:
    """Return the text with absolute paths shortened to `…/NAME`, except system paths.

    The names of directories tell strangers who runs a program and where. A path without quotation
    marks is taken to end at a blank, unless it begins with one of the `private` directories.
    """
    if "/" not in text:
        return text
    for directory in sorted(private, key=len, reverse=True):
        text = re.sub(re.escape(directory) + r"(?![\w.-])", "/…/…", text)
    return _ABSOLUTE.sub(_name_only, text)


def _name_only(found: re.Match[str]) -> str:
    whole = found["quoted"] or found["bare"]
    path = "/" + whole[whole.index("/") :].strip("/")
    if _SYSTEM.match(path):
        return found[0]
    name = "" if _HOME.fullmatch(path) else path.rpartition("/")[2].replace("…", "")
    before = "" if found["quoted"] else whole[: whole.index("/")].removesuffix("file:")
    quote = found["quote"] or ""
    return f"{quote}{before}…/{name}{quote}" if name else f"{quote}{before}…{quote}"


def count(number: int, noun: str) -> str:
    """Format a number with its noun: `1 match`, `2 matches`, `1,000 entries`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        plural = noun[:-1] + "ies"
    else:
        plural = noun + ("es" if noun[-1] in "hs" else "s")
    return f"{number:,} {plural}"


def plain_words(name: str) -> str:
    """Return the name of an enum member as words, such as `time out`."""
    return name.lower().replace("_", " ")


def reason_text(detail: str) -> str:
    """Return a signed reason for a forfeit without a name such as `ILLEGAL_ACTION: ` in front."""
    name, _, sentence = detail.partition(": ")
    return sentence if name in RejectionReason.__members__ else detail


def seats_text(entries: Sequence[str]) -> str:
    """Return the seats of a match with their entries, such as `0 (mine), 1 (greedy)`."""
    return ", ".join(f"{seat} ({plain(entry)})" for seat, entry in enumerate(entries))
