"""Seats of a match for guests: bots that the user starts, for example in a debugger."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asara_server.cli.display.console import notify, out
from asara_server.tournament.config.fields import MOST_SECONDS
from asara_server.tournament.config.token_store import new_token
from asara_server.tournament.config.tournament_file import Entry


@dataclass(frozen=True, slots=True)
class Guests:
    """The guests of a match."""

    tokens: Mapping[str, str]
    """The guests' tokens, by entry."""
    table: Mapping[str, Any]
    """Settings of a tournament that let the guests connect; empty without guests."""

    def announce(self, address: str, seeds: Mapping[str, int]) -> None:
        """Print the environment variables for each guest's command; `seeds` are by entry."""
        for name, token in self.tokens.items():
            variables = f"ASARA_ADDRESS={address} ASARA_TOKEN={token} ASARA_SEED={seeds[name]}"
            out.print(f"Start your bot ({name}) with these variables:")
            out.print(f"    {variables}\n", soft_wrap=True)
        if self.tokens:
            notify("Press Ctrl-C to stop.")


@contextmanager
def guests_among(bots: Iterable[Entry]) -> Iterator[Guests]:
    """Make tokens for the guests among these bots; the tokens are valid until the context ends."""
    names = [bot.name for bot in bots if bot.remote]
    if not names:
        yield Guests({}, {})
        return
    with tempfile.TemporaryDirectory(prefix="asara-guests-") as folder:
        file = Path(folder) / "tokens.json"
        tokens = {name: new_token(file, name) for name in names}
        remote = {
            "listen": "127.0.0.1:0",
            "certificate": None,
            "key": None,
            "tokens": file,
            "wait_s": MOST_SECONDS,
        }
        yield Guests(tokens, {"remote": remote})
