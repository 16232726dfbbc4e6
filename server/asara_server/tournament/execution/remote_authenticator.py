"""Authenticates remote bots by their tokens."""

from pathlib import Path

from asara_server.logs import logger
from asara_server.tournament.config.token_store import TokenError, read_tokens, sha256_of
from asara_server.tournament.execution.remote_bots import RemoteBot, RemoteBots


class TokenWatcher:
    """The valid tokens in a file, as of the last call of `reload_if_changed`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] | None = None
        """Inode, size and time of the last file read; empty if there was no file."""
        self._names: dict[str, str] = {}
        self._logger = logger("runner")

    def name_of(self, sha256: str) -> str | None:
        """Return the name belonging to the valid token with this hash."""
        return self._names.get(sha256)

    def reload_if_changed(self) -> None:
        """Read the file if it has changed.

        If the file is missing or unreadable, the previous tokens stay valid, so that a mistake in
        editing the file does not cost any bot its matches.
        """
        try:
            found = self._path.stat()
            seen: tuple[int, ...] = found.st_ino, found.st_size, found.st_ctime_ns
        except OSError:
            seen = ()
        if seen != self._seen:
            self._seen = seen
            self._reload()

    def _reload(self) -> None:
        try:
            if not self._seen:
                raise TokenError(f"{self._path}: does not exist any more")
            tokens = read_tokens(self._path).tokens
        except TokenError as error:
            self._logger.warning("previous tokens stay valid", why=str(error))
            return
        self._names = {token.sha256: token.name for token in tokens if token.revoked is None}


class RemoteAuthenticator:
    """The referee's `Authenticator` for remote bots.

    A token is valid if the token file lists it under the token name of an entry. If a token is
    revoked during the run, another token of the same name can replace it.
    """

    def __init__(self, tokens: Path, bots: RemoteBots) -> None:
        self._tokens = TokenWatcher(tokens)
        self._bots = bots
        self._by_token_name = {bot.token_name: bot for bot in bots}

    def authenticate(self, token: str) -> str | None:
        self.reload_tokens()
        token_sha256 = sha256_of(token)
        bot = self._owner(token_sha256)
        if bot is None or self._bots.exclusion(bot) is not None:
            return None
        bot.token_sha256 = token_sha256
        return bot.key

    def connections_changed(self) -> None:
        self._bots.update_presence()

    def reload_tokens(self) -> None:
        """Read the token file if it has changed."""
        self._tokens.reload_if_changed()

    def is_valid(self, bot: RemoteBot) -> bool:
        """True if the token with which a bot last connected is still valid."""
        return self._owner(bot.token_sha256) is bot

    def _owner(self, token_sha256: str) -> RemoteBot | None:
        name = self._tokens.name_of(token_sha256)
        return None if name is None else self._by_token_name.get(name)
