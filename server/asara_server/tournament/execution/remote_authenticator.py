"""Authenticates the bots on other machines by their tokens."""

from pathlib import Path

from asara_server.tournament.config.token_store import sha256_of
from asara_server.tournament.config.token_watcher import TokenWatcher
from asara_server.tournament.execution.remote_bots import RemoteBot, RemoteBots


class RemoteAuthenticator:
    """The referee's `Authenticator` for the bots on other machines.

    A token is valid if the token file has it under the name that an entry gives. If a token is
    revoked while the run is played, another one of the same name takes its place.
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
        """True if the token with which a bot connected last is still valid."""
        return self._owner(bot.token_sha256) is bot

    def _owner(self, token_sha256: str) -> RemoteBot | None:
        name = self._tokens.name_of(token_sha256)
        return None if name is None else self._by_token_name.get(name)
