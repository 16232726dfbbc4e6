"""`journals/`: a journal for each block that a worker process of this machine plays.

The worker writes it as the referee of a `local` run writes the journal of the run, and adds the
results of the matches that are over. Once the runner has recorded them in its own journal, it
removes that of the block. So if a worker or the runner is killed, its journal has what is not
recorded yet: the matches that are over, and the others up to the last decision. The runner makes an
empty file before it submits the block, which says that no match of it has begun.

Only the owner may read the folder, because the journals hold the secrets of deals.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from asara_server.eventlog.file_lock import lock_holder
from asara_server.eventlog.journal import Journal, JournalError, OpenMatch, in_use
from asara_server.tournament.standings.match_result import MatchResult

FOLDER: Final = "journals"
_SUFFIX: Final = ".journal"
_CHECK_INTERVAL_S: Final = 0.05


class PlayedAttempt(NamedTuple):
    """An attempt at a match that is over."""

    result: MatchResult
    records: tuple[bytes, ...] | None
    """Records of its replay; None if the attempt is void."""


class JournaledBlock(NamedTuple):
    """What the journal of a block holds."""

    ended: tuple[PlayedAttempt, ...]
    """Attempts in the order in which they ended."""
    unfinished: tuple[OpenMatch, ...]


def block_journal(directory: Path, block: str) -> Path:
    """Return the path of the journal of a block in a run directory."""
    return directory / FOLDER / f"{block}{_SUFFIX}"


def block_journals(directory: Path) -> list[Path]:
    """Return the journals of all blocks that a run directory holds."""
    return sorted((directory / FOLDER).glob(f"*{_SUFFIX}"))


def block_of(journal: Path) -> str:
    """Return the name of the block of a journal."""
    return journal.name.removesuffix(_SUFFIX)


def make_block_journal(directory: Path, block: str) -> None:
    """Make the empty journal of a block that is about to be submitted; raises OSError."""
    block_journal(directory, block).touch(mode=0o600)


def begin_block_journal(directory: Path, block: str, begun: Sequence[OpenMatch]) -> Journal:
    """Open the new journal of a block, and write the matches that have begun to it.

    Raises JournalError.
    """
    journal = Journal(block_journal(directory, block))
    for opened in begun:
        journal.adopt(opened)
    return journal


def end_attempt(journal: Journal, attempt: PlayedAttempt) -> None:
    """Write that an attempt is over; raises JournalError."""
    result = attempt.result
    journal.end(result.played_as, result.model_dump_json(), attempt.records or ())


def read_block_journal(path: Path) -> JournaledBlock:
    """Return what the journal of a block holds that no process has open; raises JournalError."""
    try:
        with Journal(path) as journal:
            results = [MatchResult.model_validate_json(one.result) for one in journal.ended]
            ended = tuple(
                PlayedAttempt(result, None if result.void else records)
                for result, (_, records) in zip(results, journal.ended, strict=True)
            )
            return JournaledBlock(ended, tuple(journal.unfinished.values()))
    except ValueError as error:
        raise JournalError(f"{path}: damaged ({error})") from None


def wait_for_writers(directory: Path, most_s: float) -> None:
    """Wait until no worker of an earlier runner has a journal open.

    Raises JournalError, which names the process, if one has after `most_s` seconds.
    """
    deadline_s = time.monotonic() + most_s
    for path in block_journals(directory):
        while (process := _holder(path)) is not None:
            if time.monotonic() > deadline_s:
                raise JournalError(f"{path}: {in_use(process)}")
            time.sleep(_CHECK_INTERVAL_S)


def remove_block_journal(path: Path) -> None:
    """Remove the journal of a block."""
    path.unlink(missing_ok=True)


def _holder(path: Path) -> int | None:
    try:
        return lock_holder(path)
    except OSError:
        return None
