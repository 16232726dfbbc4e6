"""The part of a referee's interface for code that starts bots and opens addresses for them."""

from collections.abc import Callable
from typing import Protocol

from asara_codec.results import Termination
from asara_server.referee.limits import LimitSettings
from asara_server.referee.session import Authenticator, BotSocket, Session
from asara_server.referee.stream_errors import Context, StreamError


class BotRegistry(Protocol):
    """Admits bots by their tokens. `Referee` documents the methods."""

    @property
    def limits(self) -> LimitSettings: ...

    def register_bot(
        self,
        key: str,
        entry: str,
        *,
        authenticator: Authenticator | None = None,
        max_matches: int | None = None,
    ) -> None: ...

    def remove_bot(self, key: str, reason: str) -> None: ...

    def mark_lost(
        self, key: str, detail: str, absence: Termination = Termination.NEVER_STARTED
    ) -> None: ...

    def mark_unstarted(self, key: str, why: str) -> None: ...

    def expel_bot(self, key: str, error: StreamError) -> None: ...

    def is_connected(self, key: str) -> bool: ...

    def awaits(self, key: str) -> bool: ...

    def decision_id(self, match_id: str, seat: int) -> int: ...

    def before_send(self, key: str, called: Callable[[], None] | None) -> None: ...

    def open_session(
        self,
        context: Context,
        authenticator: Authenticator | None = None,
        socket: BotSocket | None = None,
    ) -> Session: ...
