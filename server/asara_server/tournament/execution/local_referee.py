"""Where matches are played: a referee that bots of this machine reach, and the bots themselves."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from structlog.typing import FilteringBoundLogger

from asara_game.edition import Edition
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.execution.local_socket import local_address
from asara_server.tournament.execution.match_runner import MatchRunner
from asara_server.tournament.execution.match_settings import MatchSettings
from asara_server.tournament.sandbox.bubblewrap import Sandbox


class LocalReferee(NamedTuple):
    pool: BotPool
    match_runner: MatchRunner


@asynccontextmanager
async def local_referee(
    match_settings: MatchSettings,
    referee: Referee,
    *,
    edition: Edition,
    secret_of: Callable[[str, str], bytes],
    sandbox: Sandbox | None,
    logs: Path,
    excluded: Mapping[str, str],
    log: FilteringBoundLogger | None = None,
) -> AsyncIterator[LocalReferee]:
    """Let bots reach this referee. In the end they are gone.

    `secret_of` gives the secret of a match by its name and that of its mirrored block. Entries that
    are `excluded` forfeit, for the reason given. What bots print goes into `logs`.
    """
    async with local_address(referee, match_settings.transport) as address:
        pool = BotPool(
            referee,
            address,
            [entry for entry in match_settings.entries if not entry.remote],
            keep=match_settings.keep,
            limits=match_settings.limits,
            seeds=match_settings.seeds,
            logs=logs,
            sandbox=sandbox,
            built=match_settings.built,
            log=log,
        )
        try:
            for name, why in excluded.items():
                await pool.exclude(name, why)
            yield LocalReferee(
                pool,
                MatchRunner(
                    referee,
                    pool,
                    edition=edition,
                    clocks=match_settings.clocks,
                    secret_of=secret_of,
                    joint=match_settings.joint,
                ),
            )
        finally:
            await pool.close()
