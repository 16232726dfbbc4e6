"""Where matches are played: a referee that bots of this machine reach, and the bots themselves."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from structlog.typing import FilteringBoundLogger

from asara_game.edition import Edition
from asara_server.referee import Referee
from asara_server.spec import ClockSettings
from asara_server.tournament.arena import Arena
from asara_server.tournament.config import Entry, Limits
from asara_server.tournament.pool import Pool
from asara_server.tournament.reach import local_address
from asara_server.tournament.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Terms:
    """What all matches of a run have in common. It can be pickled, and no deal follows from it."""

    entries: tuple[Entry, ...]
    clocks: ClockSettings
    limits: Limits
    transport: Literal["unix", "tcp"]
    joint: bool
    """Whether every bot adds a nonce to every deal."""
    keep: bool
    """Whether bot processes go on from match to match."""
    seeds: Mapping[str, int]
    """By entry, what its bots derive their dice from; empty where they draw their own."""
    built: Mapping[str, Path]
    """By entry, the directory that its build made."""


class House(NamedTuple):
    pool: Pool
    arena: Arena


@asynccontextmanager
async def open_house(
    terms: Terms,
    referee: Referee,
    *,
    edition: Edition,
    secret_of: Callable[[str, str], bytes],
    sandbox: Sandbox | None,
    logs: Path,
    excluded: Mapping[str, str],
    log: FilteringBoundLogger | None = None,
) -> AsyncIterator[House]:
    """Let bots reach this referee. In the end they are gone.

    `secret_of` gives the secret of a match by its name and that of its mirrored block. Entries that
    are `excluded` forfeit, for the reason given. What bots print goes into `logs`.
    """
    async with local_address(referee, terms.transport) as address:
        pool = Pool(
            referee,
            address,
            [entry for entry in terms.entries if not entry.remote],
            keep=terms.keep,
            limits=terms.limits,
            seeds=terms.seeds,
            logs=logs,
            sandbox=sandbox,
            built=terms.built,
            log=log,
        )
        try:
            for name, why in excluded.items():
                await pool.exclude(name, why)
            yield House(
                pool,
                Arena(
                    referee,
                    pool,
                    edition=edition,
                    clocks=terms.clocks,
                    secret_of=secret_of,
                    joint=terms.joint,
                ),
            )
        finally:
            await pool.close()
