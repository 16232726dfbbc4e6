"""Files of runs that were never played."""

import random
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

from asara_codec.results import SeatEnd, Termination
from asara_server.journal.journal import Fact
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.directory import INDEX, JOURNAL, open_journal
from asara_server.tournament.run.run_record import RUN, RunInfo
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome

STARTED = "2026-01-01T10:00:00+00:00"
SECRET = bytes(range(32))
INFO = RunInfo(
    asara="0.1.0",
    title="Spring cup",
    entries=("ann", "bob", "cid", "dan"),
    scheduled=96,
    seed="the seed",
    seed_drawn=True,
    deals="committed",
    blocks="mirrored",
    deal_commitment=sha256(SECRET).hexdigest(),
    tournament_secret=SECRET.hex(),
    edition="some edition",
    edition_sha256="ed" * 32,
    started=STARTED,
    ended="2026-01-01T11:00:00+00:00",
    state="finished",
)
COSTS = RunCosts(wall_s=20.0, core_s=20.0, bots_cpu_s=9.0, referee_cpu_s=1.0)
RUNNING = {"state": "running", "ended": None, "tournament_secret": None}
"""Changes to `INFO` for a run that is being played."""


def seat(
    entry: str,
    rank: int,
    why: str = "",
    kind: Termination = Termination.CRASH,
    printed: Sequence[str] | None = None,
) -> SeatOutcome:
    """How a match ended for an entry, which forfeited it if there is a reason."""
    end = kind if why else Termination.COMPLETED
    return SeatOutcome.of(entry, SeatEnd(rank, 100 // rank, end, why), printed)


def match(
    name: str, *seats: SeatOutcome, block: str = "", rules: str = "basic", **more: Any
) -> MatchResult:
    """The result of a match; `more` are further fields of it."""
    return MatchResult(
        match_id=name,
        block=block,
        round=1,
        rule_sets=rules,
        seats=seats,
        started=STARTED,
        seconds=1.0,
        **more,
    )


def mirrored(entries: Sequence[str] = INFO.entries, rounds: int = 8) -> list[MatchResult]:
    """Mirrored blocks of each pair, in two sets of rules.

    The last entry crashes in the second match of its first block against each other.
    """
    dice = random.Random(1)
    found = []
    for number in range(rounds):
        rules = ("basic", "pro+gifts")[number % 2]
        for place, pair in enumerate(combinations(entries, 2)):
            block = f"r{number + 1}-{rules}-{place + 1:04}"
            for turn in (1, 2):
                crash = "exit code 1" if (number, pair[1], turn) == (0, entries[-1], 2) else ""
                ranks = (1, 2) if crash else dice.choice(((1, 2), (1, 2), (2, 1), (1, 1)))
                seats = [seat(pair[0], ranks[0]), seat(pair[1], ranks[1], crash)]
                seats = seats[:: 1 if turn == 1 else -1]
                found.append(match(f"{block}-{turn}", *seats, block=block, rules=rules))
    return found


def read_results(path: Path) -> list[MatchResult]:
    """The results in a `results.jsonl`."""
    return [MatchResult.from_json(line) for line in path.read_text().splitlines()]


def write_run(folder: Path, results: Iterable[MatchResult] = (), **changes: object) -> Path:
    """A run with these results and no replays; `changes` are fields of its run.json."""
    (folder / "replays").mkdir(parents=True)
    values = INFO.model_copy(update=changes).model_dump(mode="json")
    change_run(folder, **values)
    add_results(folder, *results)
    return folder


def write_results(folder: Path, *results: MatchResult) -> None:
    """Write another journal, of the same run with these results."""
    with open_journal(folder) as journal:
        facts = journal.facts
    (folder / JOURNAL).rename(folder / "before")
    (folder / INDEX).unlink()
    with open_journal(folder) as journal:
        journal.note(*facts)
    add_results(folder, *results)


def change_run(folder: Path, **changes: object) -> None:
    """Change fields of a run's run.json."""
    with open_journal(folder) as journal:
        journal.note(Fact(RUN, changes))


def add_results(folder: Path, *results: MatchResult | str) -> None:
    """Add results to a run's journal, also texts that are none."""
    with open_journal(folder) as journal:
        for result in results:
            text = result if isinstance(result, str) else result.to_json()
            journal.end("", text)
