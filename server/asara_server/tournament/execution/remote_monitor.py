"""Looks after the bots on other machines while matches are played."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Literal

from asara_server.logs import logger
from asara_server.referee.referee import Referee
from asara_server.tournament.execution.remote_authenticator import RemoteAuthenticator
from asara_server.tournament.execution.remote_bots import RemoteBot, RemoteBots
from asara_server.tournament.run.directory import RemoteEntry

CHECK_INTERVAL_S: Final = 0.25

REVOKED: Final = "its token was revoked"


class RemoteMonitor:
    """A task that disconnects bots, ends waits in time, and reports the presence of bots."""

    def __init__(
        self,
        referee: Referee,
        bots: RemoteBots,
        authenticator: RemoteAuthenticator,
        report: Callable[[Mapping[str, RemoteEntry]], None],
    ) -> None:
        """`report` is called with the presence by entry whenever it has changed."""
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
        """Disconnect bots whose token was revoked, and excluded ones after their last match."""
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
