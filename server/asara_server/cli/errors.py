"""The error type for problems that a user can correct."""


class UserError(Exception):
    """Ends the command with this text and exit status, without a traceback.

    Each line of the text states what is wrong, where, and what to do.
    """

    def __init__(self, text: str, status: int = 2) -> None:
        super().__init__(text)
        self.status = status
