"""The base of all errors that a user can correct."""


class UserError(Exception):
    """Ends a command with this text and exit status, without a traceback.

    Each line of the text states what is wrong, where, and what to do.
    """

    status = 2
    """Exit status: 2 for wrong input, 1 for work that failed."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        if status is not None:
            self.status = status
