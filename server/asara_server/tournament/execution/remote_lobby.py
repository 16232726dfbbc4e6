"""Serves a referee to remote bots.

Remote bots connect over TLS and authenticate with a token (`remote_authenticator`). Matches wait
for bots that are not connected (`remote_bots`). A bot is disconnected if its token is revoked or
its entry forfeits its remaining matches.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, Literal

from asara_server.logs import logger
from asara_server.network.addresses import reachable_address
from asara_server.network.grpc_server import serve
from asara_server.network.tls import TlsFiles
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.config.tournament_file import Remote
from asara_server.tournament.execution.remote_authenticator import RemoteAuthenticator
from asara_server.tournament.execution.remote_bots import RemoteBot, RemoteBots
from asara_server.tournament.run.directory import RemoteEntry, RemoteInfo

CHECK_INTERVAL_S: Final = 0.25

REVOKED: Final = "its token was revoked"


class RemoteMonitor:
    """A background task that disconnects bots, ends expired waits, and reports presence."""

    def __init__(
        self,
        referee: Referee,
        bots: RemoteBots,
        authenticator: RemoteAuthenticator,
        report: Callable[[Mapping[str, RemoteEntry]], None],
    ) -> None:
        """`report` is called with the presence of each entry's bot whenever it changes."""
        self._referee = referee
        self._bots = bots
        self._authenticator = authenticator
        self._report = report
        self._reported: Mapping[str, RemoteEntry] | None = None
        self._task: asyncio.Task[None] | None = None
        self._logger = logger("runner")

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(self._ended)

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        with self._referee.clock.held():  # a stopped runner waits for nobody
            await self._check_bots()

    async def _check_bots(self) -> None:
        unavailable = self._bots.unavailable_entries()
        while True:
            self._authenticator.reload_tokens()
            self._disconnect_unwanted_bots()
            before, unavailable = unavailable, self._bots.unavailable_entries()
            if unavailable != before:
                self._bots.notify_change()
            self._report_changes()
            await asyncio.sleep(CHECK_INTERVAL_S)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._logger.error("remote-bot monitor failed", exc_info=error)
            self._bots.fail(error)

    def _disconnect_unwanted_bots(self) -> None:
        """Disconnect bots with a revoked token now, and excluded bots after their last match."""
        for bot in self._bots:
            if not bot.connected:
                continue
            exclusion = self._bots.exclusion(bot)
            if not self._authenticator.is_valid(bot):
                self._referee.disconnect_bot(bot.key, REVOKED)
            elif exclusion is not None and not bot.matches:
                self._referee.disconnect_bot(bot.key, exclusion)
        self._bots.update_presence()

    def _report_changes(self) -> None:
        entries = {
            bot.entry: RemoteEntry(
                state=self._state(bot), since=bot.since.isoformat(timespec="seconds")
            )
            for bot in self._bots
            if self._bots.exclusion(bot) is None
        }
        if entries == self._reported:
            return
        self._reported = entries
        try:
            self._report(entries)
        except OSError as error:  # no reason to stop the matches
            self._logger.warning("remote.json not written", detail=error.strerror or str(error))

    def _state(self, bot: RemoteBot) -> Literal["here", "awaited", "missed"]:
        if bot.connected:
            return "here"
        return "missed" if self._bots.missed(bot) else "awaited"


def tls_files(remote: Remote) -> TlsFiles:
    """Return the certificate and key of the address for remote bots."""
    return TlsFiles(remote.certificate, remote.key)


class RemoteLobby:
    """A run's address for remote bots. `open` it, and call `start_waiting` when matches begin."""

    def __init__(
        self,
        referee: Referee,
        remote: Remote,
        bots: RemoteBots,
        authenticator: RemoteAuthenticator,
        report: Callable[[RemoteInfo], None],
    ) -> None:
        """`report` is called with the bots' presence whenever it changes."""
        self._referee = referee
        self._remote = remote
        self._bots = bots
        self._report = report
        self._address = ""
        self._authenticator = authenticator
        self._monitor = RemoteMonitor(referee, bots, authenticator, self._report_presence)

    @asynccontextmanager
    async def open(self, on_listening: Callable[[str], None]) -> AsyncIterator[None]:
        """Serve the bots until exit; `on_listening` is called with the address.

        Raises ServeError.
        """
        remote, authenticator = self._remote, self._authenticator
        for bot in self._bots:
            self._referee.register_bot(
                bot.key, bot.entry, authenticator=authenticator, max_matches=remote.jobs_per_bot
            )
        serving = await serve(
            self._referee, remote.listen, tls=tls_files(remote), authenticator=authenticator
        )
        self._address = reachable_address(serving.address)
        on_listening(self._address)
        try:
            yield
        finally:
            await self._monitor.stop()
            await serving.server.stop(grace=1.0)

    def start_waiting(self, pool: BotPool) -> None:
        """Add the bots to a pool, so that they play its matches, and start waiting for them."""
        self._bots.start_waiting(lambda: pool.excluded)
        for bot in self._bots:
            pool.add_remote_bot(bot.entry, bot.key, partial(self._absence, bot))
        self._monitor.start()

    def _absence(self, bot: RemoteBot) -> str:
        """Why a bot is no longer awaited; "" if it is connected or still awaited."""
        if not self._bots.missed(bot):
            return ""
        within = f"within {self._remote.wait_s:g} s"
        if bot.token_sha256 and not self._authenticator.is_valid(bot):
            return f"{REVOKED}, and it did not connect with another {within}"
        if bot.seen:
            return f"went away and did not connect again {within}"
        return f"did not connect {within}"

    def _report_presence(self, entries: Mapping[str, RemoteEntry]) -> None:
        self._report(
            RemoteInfo(address=self._address, wait_s=self._remote.wait_s, entries=dict(entries))
        )
