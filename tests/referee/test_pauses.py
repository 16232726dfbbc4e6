"""Pauses of real time, which hide that a seat had no choice."""

from itertools import pairwise
from pathlib import Path

from asara_codec.results import Termination
from asara_server.journal.journal import Journal
from asara_server.journal.resimulate import resimulated
from asara_server.match.inputs import PauseRecord, ReplyRecord
from asara_server.replay.file import parse_replay
from asara_server.replay.signing import SigningKey
from tests.match.playouts import replay_bytes, replay_of
from tests.referee.harness import play_bot, referee_server, spec, together


async def test_the_referee_pauses_in_place_of_a_forced_decision(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        async with referee_server(journal=journal) as server:
            server.admit("a", "b")
            streams = [await server.dial(name, live_updates=True) for name in "ab"]
            bots = [play_bot(stream, seed=seed) for seed, stream in enumerate(streams)]
            record, *_ = await together(server.referee.play(spec(hide_forced=True)), *bots)
    assert [r.termination for r in record.ends] == [Termination.COMPLETED] * 2
    replay = replay_of(record)
    pauses = [
        one.time_us - before.time_us
        for before, one in pairwise(replay.records)
        if isinstance(one, PauseRecord)
    ]
    assert pauses
    answers = [one.bot_us for one in replay.records if isinstance(one, ReplyRecord)]
    assert min(pauses) >= min(answers)
    data = replay_bytes(replay, SigningKey.new())
    for _ in resimulated(parse_replay(data)):
        pass
