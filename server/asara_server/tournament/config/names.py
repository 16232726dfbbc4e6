"""Names of entries and of tokens: they become parts of file names, tables and command lines."""

MAX_NAME = 40
"""Characters of a name."""


def name_fault(name: str) -> str:
    """What is wrong with a name, in words; empty where nothing is."""
    if not name or name != name.strip() or len(name) > MAX_NAME:
        return f"should have 1 to {MAX_NAME} characters and no blanks around it"
    strange = sorted({char for char in name if not (char.isalnum() or char in " ._+-")})
    if strange or not name[0].isalnum():
        what = f"{strange[0]!r}" if strange else f"{name[0]!r} at its start"
        return f"{name!r} cannot name files because of {what}; use letters, digits, . _ + -"
    return ""
