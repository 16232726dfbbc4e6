"""With one seed, the starters of all languages play the same moves, those of the golden file."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from asara_codec.clocks import Clocks
from asara_game.rules import parse_rule_sets
from asara_server.event_loop import run
from asara_server.journal.record_codec import RecordCodec
from asara_server.journal.replay import ReplayHeader
from asara_server.match.inputs import ReplyRecord
from asara_server.referee.referee import Referee
from asara_server.tournament.config.tournament_file import Limits, MatchSettings
from asara_server.tournament.execution.match_runner import (
    ExecutionContext,
    match_runner,
)
from asara_server.tournament.schedule.schedule import Attempt, ScheduledMatch
from asara_server.tournament.standings.match_result import PlayedAttempt
from tests.golden.random_moves import MATCHES, GoldenMatch, digest
from tests.languages.kits import Kit, build_starter, entry_of, every_kit, require

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "random_moves.json").read_text()
)["matches"]
AT_ONCE = 4
"""Matches played at once; most of a match is the start of its processes."""

pytestmark = pytest.mark.languages


@every_kit
def test_the_starter_plays_the_golden_moves(kit: Kit, tmp_path: Path) -> None:
    require(kit)
    build_starter(kit)
    played = run(play(kit, tmp_path))
    assert [golden_row(played[match.match_id], match) for match in MATCHES] == GOLDEN


def golden_row(played: PlayedAttempt, match: GoldenMatch) -> dict[str, Any]:
    """Return a match that was played as it would stand in the golden file."""
    result, records = played
    faults = Counter(seat.detail for seat in result.seats if seat.termination.forfeit)
    assert not faults, f"{match.match_id}: {faults}"
    header, *rest = map(RecordCodec().decode, records)
    assert isinstance(header, ReplayHeader)
    replies = [each for each in rest if isinstance(each, ReplyRecord)]
    assert all(len(reply.actions) == 1 for reply in replies)
    actions = [action for reply in replies for action in reply.actions]
    return {
        "match_id": header.match_id,
        "seed": match.seed,
        "secret": header.deal_secret.hex(),
        "rule_sets": result.rule_sets,
        "seats": len(header.entries),
        "actions": len(actions),
        "sha256": digest(actions),
        "prestige": [seat.prestige for seat in result.seats],
        "ranks": [seat.rank for seat in result.seats],
    }


async def play(kit: Kit, logs: Path) -> dict[str, PlayedAttempt]:
    """Play all golden matches with a referee and bot processes; the starter sits in every seat.

    Every seat is an entry of its own, because the seed of a process is that of its entry.
    """
    entries = {
        f"{match.match_id}-{seat}": match for match in MATCHES for seat in range(match.seats)
    }
    settings = MatchSettings(
        entries=tuple(entry_of(kit.starter_folder, name, built=True) for name in entries),
        clocks=Clocks(start_up_us=120_000_000, bank_us=600_000_000, reconnect_us=60_000_000),
        limits=Limits(),
        transport="unix",
        processes=dict.fromkeys(entries, "match"),
        bot_seeds={name: match.seed for name, match in entries.items()},
    )
    secrets = {match.match_id: match.secret for match in MATCHES}
    slots = asyncio.Semaphore(AT_ONCE)
    context = ExecutionContext(settings, lambda match_id, _: secrets[match_id])
    async with match_runner(context, Referee(), logs) as local:

        async def play_match(match: GoldenMatch) -> PlayedAttempt:
            names = tuple(f"{match.match_id}-{seat}" for seat in range(match.seats))
            scheduled = ScheduledMatch(match.match_id, 1, parse_rule_sets(match.rule_sets), names)
            async with slots:
                return [each async for each, _ in local.play(Attempt(scheduled))][-1]

        played = await asyncio.gather(*map(play_match, MATCHES))
        return {match.match_id: each for match, each in zip(MATCHES, played, strict=True)}
