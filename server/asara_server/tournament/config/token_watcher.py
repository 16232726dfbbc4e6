"""Follows a token file that may change at any time."""

from pathlib import Path

from asara_server.logs import logger
from asara_server.tournament.config.token_store import TokenError, read_tokens


class TokenWatcher:
    """The valid tokens of a file, as of the last call of `reload_if_changed`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] | None = None
        """Inode, size and time of the file that was read last; empty if there was no file."""
        self._names: dict[str, str] = {}
        self._logger = logger("runner")

    def name_of(self, sha256: str) -> str | None:
        """Return the name of the valid token with this hash."""
        return self._names.get(sha256)

    def reload_if_changed(self) -> None:
        """Read the file if it has changed.

        If it is missing or cannot be read, the previous tokens stay valid: a mistake in editing it
        must not cost any bot its matches.
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
