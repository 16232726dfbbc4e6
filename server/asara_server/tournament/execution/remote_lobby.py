"""Serves a referee to bots on other machines.

They connect over TLS and authenticate with a token (`remote_authenticator`). Matches wait for bots
that are not connected (`remote_bots`, `match_queue`). A bot whose token is revoked, or whose entry
forfeits its remaining matches, is disconnected (`remote_monitor`).
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from asara_server.network.addresses import reachable_address
from asara_server.network.grpc_server import serve
from asara_server.network.tls import TlsFiles
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.config.tournament_file import Remote
from asara_server.tournament.execution.remote_authenticator import RemoteAuthenticator
from asara_server.tournament.execution.remote_bots import RemoteBot, RemoteBots
from asara_server.tournament.execution.remote_monitor import REVOKED, RemoteMonitor
from asara_server.tournament.run.directory import RemoteEntry, RemoteInfo


def tls_files(remote: Remote) -> TlsFiles:
    """Certificate and key of the address for remote bots."""
    return TlsFiles(remote.certificate, remote.key)


class RemoteLobby:
    """The address for remote bots of a run. `open` it, and `start_waiting` when matches begin."""

    def __init__(
        self,
        referee: Referee,
        remote: Remote,
        bots: RemoteBots,
        authenticator: RemoteAuthenticator,
        report: Callable[[RemoteInfo], None],
    ) -> None:
        """`report` is called with the presence of the bots whenever it has changed."""
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
        """Have the bots take part in the matches of a pool, and begin to wait for them."""
        self._bots.start_waiting(lambda: pool.excluded)
        for bot in self._bots:
            pool.add_remote_bot(bot.entry, bot.key, partial(self._absence, bot))
        self._monitor.start()

    def _absence(self, bot: RemoteBot) -> str:
        """Why a bot is not awaited any more; "" if it is, or is connected."""
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
