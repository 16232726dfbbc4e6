"""Text that bots or strangers may have chosen, made fit to be shown. Pure.

Escaping for HTML or CSV comes later, where it is written. Here goes what no escaping helps against:
characters that nobody sees, that turn the line around, or that a file cannot hold.
"""

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of characters without a shape: controls, marks of direction, surrogates."""

LONGEST = 300
"""Characters of a text that are shown."""


def plain(text: str, longest: int = LONGEST) -> str:
    r"""The same in one line of visible characters, cut after so many.

    A character that cannot be seen is told by its number, such as `\\u202e`; a blank of any kind is
    a blank.
    """
    shown: list[str] = []
    for char in text[: longest + 1]:
        category = unicodedata.category(char)
        if category == "Zs":
            shown.append(" ")
        elif category in _HIDDEN:
            shown.append(f"\\u{ord(char):04x}" if ord(char) < 1 << 16 else f"\\U{ord(char):08x}")
        else:
            shown.append(char)
    cut = len(text) > longest
    return "".join(shown[:longest]) + ("…" if cut else "")
