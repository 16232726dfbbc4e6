"""Names of entries and tokens, which become parts of file names, tables and command lines."""

MAX_NAME = 40
"""Characters in the longest name."""


def name_fault(name: str) -> str:
    """Return the fault of a name in words, or "" if it has none."""
    if not name or name != name.strip() or len(name) > MAX_NAME:
        return f"should have 1 to {MAX_NAME} characters and no blanks around it"
    unusual = sorted({char for char in name if not (char.isalnum() or char in " ._+-")})
    if unusual or not name[0].isalnum():
        culprit = f"{unusual[0]!r}" if unusual else f"{name[0]!r} at its start"
        return f"{name!r} cannot name files because of {culprit}; use letters, digits, . _ + -"
    return ""
