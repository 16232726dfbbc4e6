"""The failure of a case: its expectation, and what was seen instead."""


class CaseFailed(Exception):
    """The program did not do what a case expects; both texts are parts of a sentence."""

    def __init__(self, expected: str, seen: str, *, closed: bool = False) -> None:
        """`closed` is True if a stream was closed, perhaps because the program has ended."""
        super().__init__(f"expected {expected}; seen: {seen}")
        self.expected = expected
        self.seen = seen
        self.closed = closed
