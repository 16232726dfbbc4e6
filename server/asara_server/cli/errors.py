"""Errors that a user can do something about."""


class UserError(Exception):
    """Ends the command with these lines and this exit status, without a traceback."""

    def __init__(self, text: str, status: int = 2) -> None:
        super().__init__(text)
        self.status = status
