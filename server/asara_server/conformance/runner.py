"""Plays cases against a program, several at a time."""

import asyncio
import os
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from asara_server.conformance.case import Case
from asara_server.conformance.certificates import certificate_for
from asara_server.conformance.checks import check_end, fill_folder
from asara_server.conformance.failure import CaseFailed
from asara_server.conformance.program import Program, ended_with
from asara_server.conformance.script import Script
from asara_server.conformance.stage import Stage
from asara_server.conformance.verdict import CaseResult, Verdict
from asara_server.network.addresses import socket_parent
from asara_server.tournament.config.tournament_file import Entry

_SETTLE_S = 5.0
"""Seconds for a script to end after the program has ended."""
_EXIT_S = 15.0
"""Seconds for the program to end after the last script."""
_TICK_S = 0.1
_PRINTED_LINES = 6


async def play_cases(cases: Sequence[Case], bot: Entry, jobs: int) -> AsyncIterator[CaseResult]:
    """Yield the result of each case as soon as it ends; raise ProgramError.

    Cases that spend most of their time waiting begin first, and do not count towards `jobs`.
    """
    places = asyncio.Semaphore(jobs)
    waiting = [asyncio.create_task(play_case(case, bot)) for case in cases if case.waits]
    others = [
        asyncio.create_task(_play_in_turn(case, bot, places)) for case in cases if not case.waits
    ]
    tasks = [*waiting, *others]
    try:
        for result in asyncio.as_completed(tasks):
            yield await result
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _play_in_turn(case: Case, bot: Entry, places: asyncio.Semaphore) -> CaseResult:
    async with places:
        return await play_case(case, bot)


async def play_case(case: Case, bot: Entry) -> CaseResult:
    """Play one case; raise ProgramError if the program cannot be executed."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(
        prefix="asara-", dir=socket_parent(), ignore_cleanup_errors=True
    ) as folder:
        performance = _Performance(case, bot, Path(folder))
        try:
            seen = await performance.play()
        except CaseFailed as failure:
            verdict, expected, seen = Verdict.FAILED, failure.expected, failure.seen
        else:
            status = case.expect.status
            verdict = Verdict.PASSED
            expected = "any status" if status is None else f"status {status}"
        printed = "" if verdict is Verdict.PASSED else performance.printed()
    seconds = time.monotonic() - began
    return CaseResult(case, verdict, expected, seen, seconds, performance.streams, printed)


class _Performance:
    """One case being played, in a temporary folder."""

    def __init__(self, case: Case, bot: Entry, folder: Path) -> None:
        self._case = case
        self._bot = bot
        self._folder = folder
        self._token = f"secret-{secrets.token_hex(12)}"
        self._program: Program | None = None
        self.streams = 0

    async def play(self) -> str:
        """Run the case; return what was seen, or raise CaseFailed."""
        stage = Stage(self._folder, self._case.settings)
        await stage.open()
        try:
            environment = self._environment(stage.address)
            self._program = program = await Program.start(self._bot, environment)
            if self._case.expect.growing_pauses:
                stage.busy_s = program.busy_s
            try:
                return await self._play_with(program, stage)
            finally:
                await program.kill()
        finally:
            self.streams = len(stage.streams)
            await stage.close()

    def printed(self) -> str:
        """Return the last lines of standard error."""
        text = self._program.stderr.text if self._program else ""
        return "\n".join(text.rstrip().splitlines()[-_PRINTED_LINES:])

    async def _play_with(self, program: Program, stage: Stage) -> str:
        case = self._case
        script = Script(case, stage, program, self._token)
        performing = asyncio.create_task(script.perform())
        ending = asyncio.create_task(program.wait())
        try:
            async with asyncio.timeout(case.limit_s):
                await asyncio.wait({performing, ending}, return_when=asyncio.FIRST_COMPLETED)
                if not performing.done():
                    await asyncio.wait({performing}, timeout=_SETTLE_S)
                missing = len(case.streams) - len(stage.streams)
                if performing.done():
                    performing.result()
                elif not (case.expect.may_end and missing == 1):
                    seen = _end_text(program, ending.result())
                    raise CaseFailed("a program that runs until the case is over", seen)
                status = await _exit_status(ending, stage, case)
        except TimeoutError:
            raise CaseFailed(
                f"an end within {case.limit_s:g} s", "the program was still running"
            ) from None
        except CaseFailed as failure:
            if failure.closed:
                await asyncio.wait({ending}, timeout=_SETTLE_S)
            if failure.closed and ending.done():
                seen = _end_text(program, ending.result())
                raise CaseFailed(failure.expected, seen) from None
            raise
        finally:
            for task in (performing, ending):
                task.cancel()
                with suppress(asyncio.CancelledError, CaseFailed):
                    await task
        check_end(
            case, stage, program, script, status, token=self._token, transcripts=self._transcripts
        )
        streams, replies = len(stage.streams), script.replies
        return (
            f"status {status}, {streams} {'stream' if streams == 1 else 'streams'}, "
            f"{replies} {'reply' if replies == 1 else 'replies'}"
        )

    @property
    def _transcripts(self) -> Path:
        return self._folder / "transcripts"

    def _environment(self, address: str) -> Mapping[str, str]:
        """Return the program's environment: this process's, plus the variables of bot and case."""
        settings = self._case.settings
        inherited = {**os.environ, **self._bot.environment}
        found = {name: value for name, value in inherited.items() if not name.startswith("ASARA_")}
        wanted = {
            "ASARA_ADDRESS": address,
            "ASARA_TOKEN": self._token if settings.token else "",
            "ASARA_SEED": settings.seed,
            "ASARA_CA": self._authority(),
            "ASARA_TRANSCRIPT": str(self._transcripts) if settings.transcript else "",
        }
        if settings.transcript == "file":
            self._transcripts.write_text("a file, not a folder", encoding="utf-8")
        elif settings.transcript == "used folder":
            fill_folder(self._case, self._transcripts)
        found |= {name: value for name, value in wanted.items() if value}
        return found | settings.environment

    def _authority(self) -> str:
        """Return the path for ASARA_CA; "" if there is none."""
        settings = self._case.settings
        path = self._folder / "authority.pem"
        match settings.ca:
            case "right":
                path.write_bytes(certificate_for(settings.tls or "localhost").authority)
            case "wrong":
                path.write_bytes(certificate_for("somewhere.example").authority)
            case "garbage":
                path.write_text("This is no certificate.\n", encoding="utf-8")
            case "":
                return ""
        return str(path)


def _end_text(program: Program, status: int) -> str:
    if program.stderr.too_large or program.stdout.too_large:
        return "the program printed more than 64 MiB, and was killed"
    return f"the program ended with {ended_with(status)}"


async def _exit_status(ending: asyncio.Task[int], stage: Stage, case: Case) -> int:
    """Wait for the end of the program, and check that it opens no further stream."""
    longest = case.expect.ends_after_s
    seconds = _EXIT_S if longest is None else longest[1] + 1
    until = time.monotonic() + seconds
    while not ending.done():
        await asyncio.wait({ending}, timeout=_TICK_S)
        stage.check_no_other_stream()
        if time.monotonic() > until:
            after = " after the last stream" if case.streams else ""
            raise CaseFailed(f"an end within {seconds:g} s{after}", "the program runs on")
    return ending.result()
