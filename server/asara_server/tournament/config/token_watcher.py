"""The valid tokens of a file that may change at any time."""

from pathlib import Path

from asara_server.logs import logger
from asara_server.tournament.config.token_store import TokenError, read_tokens


class TokenNames:
    """The good tokens of a file, which may change at any time."""

    def __init__(self, path: Path | None) -> None:
        """Without a path there are none."""
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._names: dict[str, str] = {}
        self._logger = logger("runner")

    def name(self, sha256: str) -> str | None:
        """The name of the good token with this hash."""
        return self._names.get(sha256)

    def look(self) -> None:
        """Read the file again if it has changed.

        Where it is gone or cannot be read, what it said last holds: a slip of a hand in it is to
        cost no bot its matches.
        """
        if self._path is None:
            return
        try:
            found = self._path.stat()
            seen: tuple[int, ...] = found.st_ino, found.st_size, found.st_ctime_ns
        except OSError:
            seen = ()
        if seen != self._seen:
            self._seen = seen
            self._read(self._path)

    def _read(self, path: Path) -> None:
        try:
            if not self._seen:
                raise TokenError(f"{path}: is not there any more")
            tokens = read_tokens(path).tokens
        except TokenError as error:
            self._logger.warning("tokens stay as they were", why=str(error))
            return
        self._names = {token.sha256: token.name for token in tokens if token.revoked is None}
