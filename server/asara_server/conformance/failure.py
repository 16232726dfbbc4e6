"""The failure of a case: what was expected, and what was seen instead."""


class CaseFailed(Exception):
    """Raised when the program does not do what a case expects; both texts are sentence parts."""

    def __init__(self, expected: str, seen: str, *, closed: bool = False) -> None:
        """`closed` is True if a stream was closed, possibly because the program had ended."""
        super().__init__(f"expected {expected}; seen: {seen}")
        self.expected = expected
        self.seen = seen
        self.closed = closed
