"""A referee that local bots can reach, together with the bots themselves."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from asara_game.edition import load_edition
from asara_server.network.open_files import raise_open_files_limit
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.match_settings import BotWatch, MatchSettings
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.execution.match_runner import CoreSets, MatchRunner
from asara_server.tournament.sandbox.bubblewrap import Sandbox


class LocalReferee(NamedTuple):
    pool: BotPool
    matches: MatchRunner


@asynccontextmanager
async def local_referee(
    settings: MatchSettings,
    referee: Referee,
    *,
    secret_of: Callable[[str, str], bytes],
    sandbox: Sandbox | None,
    logs: Path,
    out: Mapping[str, str] = MappingProxyType({}),
    suspended: Mapping[str, str] = MappingProxyType({}),
    at_once: int = 0,
    watch: BotWatch | None = None,
) -> AsyncIterator[LocalReferee]:
    """Serve this referee to local bots; all bot processes have ended on exit.

    `secret_of` returns the secret of a match, given the names of its attempt and its shared deal.
    Entries that are `out` or `suspended` forfeit for the given reason. With enough cores, each of
    the matches played `at_once` has its own cores for its bots. The output of bots goes to files in
    `logs`.
    """
    raise_open_files_limit()
    async with AsyncExitStack() as stack:
        addresses = stack.enter_context(closing(BotAddresses(referee, settings.transport)))
        pool = BotPool(referee, addresses, settings, logs=logs, sandbox=sandbox, watch=watch)
        stack.push_async_callback(pool.close)
        for name, why in out.items():
            await pool.exclude(name, why)
        for name, why in suspended.items():
            await pool.suspend(name, why)
        yield LocalReferee(
            pool,
            MatchRunner(
                referee,
                pool,
                edition=load_edition(),
                clocks=settings.clocks,
                secret_of=secret_of,
                joint_deals=settings.joint_deals,
                core_sets=CoreSets(at_once, settings.limits.cores),
            ),
        )
