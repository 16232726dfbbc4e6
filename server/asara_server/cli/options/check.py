"""The options of `asara check`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asara_server.cli.options.match import Clock
from asara_server.cli.options.sandbox import SandboxChoice

GENEROUS_CLOCK: Final = Clock(600)
START_UP_S: Final = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckBotOptions:
    bot: str
    rules: str
    clock: Clock
    start_up: float
    out_directory: Path | None
    """The folder for everything that is kept; None if nothing is kept."""
    json_file: Path | None
    sandbox: SandboxChoice
    readable: tuple[str, ...]
    """Further paths that the bot may read."""
