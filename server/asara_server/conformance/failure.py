"""How a case fails: what was expected, and what was seen instead."""


class CaseFailed(Exception):
    """The program did not do what a case expects; both texts are parts of a sentence."""

    def __init__(self, expected: str, seen: str) -> None:
        super().__init__(f"expected {expected}; seen: {seen}")
        self.expected = expected
        self.seen = seen
