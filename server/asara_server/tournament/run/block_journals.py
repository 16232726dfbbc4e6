"""`journals/`: one journal for each block played by a worker process on this machine.

The worker writes this journal the same way as a `local` run's referee writes the run's journal, and
adds the results of finished matches and the lines of the process record. The runner removes the
block's journal after recording the results in its own. If a worker or the runner is killed, the
block's journal thus holds everything not yet recorded: finished matches, and the others up to the
last decision. Before the runner submits a block, it makes an empty journal, which means that no
match of the block has begun.

Only the owner may read the folder, because the journals contain the secrets of deals.
"""

import time
from pathlib import Path
from typing import Final, NamedTuple

from asara_server.eventlog.file_lock import known_holder
from asara_server.eventlog.journal import Journal, JournalError, in_use
from asara_server.tournament.standings.match_result import MatchResult

FOLDER: Final = "journals"
_SUFFIX: Final = ".journal"
_CHECK_INTERVAL_S: Final = 0.05


class PlayedAttempt(NamedTuple):
    """A finished attempt at a match."""

    result: MatchResult
    records: tuple[bytes, ...]
    """Records of the attempt's replay without the signature; empty if the attempt is void."""


def block_journal(directory: Path, block: str) -> Path:
    """Return the path of the journal of a block in a run directory."""
    return directory / FOLDER / f"{block}{_SUFFIX}"


def block_journals(directory: Path) -> list[Path]:
    """Return the journals of all blocks in a run directory."""
    return sorted((directory / FOLDER).glob(f"*{_SUFFIX}"))


def read_block_journal(path: Path) -> tuple[Journal, list[PlayedAttempt]]:
    """Return a block's journal, closed, and its attempts in the order in which they ended.

    No other process may have the journal open. Raises JournalError.
    """
    try:
        with Journal(path) as journal:
            results = [MatchResult.from_json(one.result) for one in journal.ended]
    except ValueError as error:
        raise JournalError(f"{path}: damaged ({error})") from None
    ended = zip(results, journal.ended, strict=True)
    return journal, [PlayedAttempt(one, () if one.void else of.records) for one, of in ended]


def wait_for_writers(directory: Path, most_s: float) -> None:
    """Wait until no worker of an earlier runner has a journal open.

    If a journal is still open after `most_s` seconds, raises JournalError with the process number.
    """
    deadline_s = time.monotonic() + most_s
    for path in block_journals(directory):
        while (process := known_holder(path)) is not None:
            if time.monotonic() > deadline_s:
                raise JournalError(f"{path}: {in_use(process)}")
            time.sleep(_CHECK_INTERVAL_S)
