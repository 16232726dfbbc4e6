"""A referee that bots of this machine can reach, with the bots themselves."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import NamedTuple

from structlog.typing import FilteringBoundLogger

from asara_game.edition import Edition
from asara_server.network.open_files import raise_open_files_limit
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.departures import Departure
from asara_server.tournament.bots.output.output_log import OutputTap
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.execution.executor import MatchSettings
from asara_server.tournament.execution.match_runner import CoreSets, MatchRunner
from asara_server.tournament.run.costs import CostMeter
from asara_server.tournament.run.process_record import NO_RECORD, ProcessRecorder
from asara_server.tournament.sandbox.bubblewrap import Sandbox


class LocalReferee(NamedTuple):
    pool: BotPool
    matches: MatchRunner


@asynccontextmanager
async def local_referee(
    match_settings: MatchSettings,
    referee: Referee,
    *,
    edition: Edition,
    secret_of: Callable[[str, str], bytes],
    sandbox: Sandbox | None,
    logs: Path,
    out: Mapping[str, str],
    suspended: Mapping[str, str],
    at_once: int = 0,
    show_output: Callable[[str], OutputTap] | None = None,
    meter: CostMeter | None = None,
    record: ProcessRecorder = NO_RECORD,
    log: FilteringBoundLogger | None = None,
    on_departure: Callable[[Departure], None] | None = None,
) -> AsyncIterator[LocalReferee]:
    """Serve this referee to local bots; all bot processes have ended on exit.

    `secret_of` returns the secret of a match by the names of the attempt and of its shared deal.
    Entries that are `out` or `suspended` forfeit for the given reason. The bots of each of the
    matches played `at_once` have cores of their own, if there are enough. The output of bots goes
    to `logs` and, if `show_output` is given, to the tap that it returns for the process of an
    entry. `meter` counts what the processes of bots cost, `record` receives when they lived, and
    `on_departure` how they ended.
    """
    raise_open_files_limit()
    local_entries = [entry for entry in match_settings.entries if not entry.remote]
    async with AsyncExitStack() as stack:
        addresses = stack.enter_context(closing(BotAddresses(referee, match_settings.transport)))
        pool = BotPool(
            referee,
            addresses,
            local_entries,
            ponder=match_settings.ponder,
            processes=match_settings.processes,
            limits=match_settings.limits,
            seeds=match_settings.bot_seeds,
            logs=logs,
            sandbox=sandbox,
            built=match_settings.build_directories,
            readable_copies=match_settings.readable_copies,
            show_output=show_output,
            asked=referee.decision_id,
            meter=meter,
            record=record,
            log=log,
            on_departure=on_departure,
        )
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
                edition=edition,
                clocks=match_settings.clocks,
                secret_of=secret_of,
                joint_deals=match_settings.joint_deals,
                core_sets=CoreSets(at_once, match_settings.limits.cores),
            ),
        )
