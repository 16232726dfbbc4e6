"""Blocks played with real processes: one deal, and no bot that recognises it."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from asara_server.journal.replay import Replay
from asara_server.match.deal_secrets import commitment
from asara_server.match.spec import MatchRecord, MatchSpec
from asara_server.referee.referee import Referee
from asara_server.replay.file import read_replay
from asara_server.tournament.bots.living_bots import others_have_bots
from asara_server.tournament.bots.pool import PooledBot, ProcessStarter
from asara_server.tournament.runner import Runner
from asara_server.tournament.schedule import schedule
from asara_server.tournament.standings.match_result import MatchResult
from tests.cli.command import asara
from tests.tournament import sample_bots
from tests.tournament.played_runs import play_run
from tests.tournament.runs import play
from tests.tournament.sample_bots import write_tournament
from tests.tournament.samples import read_results
from tests.tournament.worker_runs import HEADER

CURIOUS = """
import os
import asara
class Bot(asara.Bot):
    def decide(self, decision):
        return self.match.random.choice(decision.legal_actions)
    def ended(self, ended):
        print("pid", os.getpid(), "seed", os.environ["ASARA_SEED"], "shared",
              self.match.started.shared_deal, "secret", ended.deal_secret.hex() or "none",
              flush=True)
asara.run(Bot)
"""
"""A bot that prints its process, its seed and what it receives about its deal."""


def replays(out: Path) -> dict[str, Replay]:
    return {path.stem: read_replay(path) for path in (out / "replays").iterdir()}


def block_of(name: str) -> str:
    return name.rpartition("-")[0]


def write(folder: Path, header: str = HEADER) -> Path:
    programs = {"ann": CURIOUS, "bob": CURIOUS, "cid": CURIOUS}
    file = write_tournament(folder, programs, header)
    kept = folder / "kept"
    text = file.read_text()
    for name in programs:
        command = f'command = "python {name}.py"\n'
        text = text.replace(command, f'{command}environment = {{ ASARA_TRANSCRIPT = "{kept}" }}\n')
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of mirrored blocks."""
    folder = tmp_path_factory.mktemp("mirrored")
    end = play(write(folder), folder / "run")
    assert end.standings.complete
    assert not any(result.forfeits for result in end.results)
    return folder


def test_no_bot_is_told_the_secret_of_a_deal_that_comes_again(played: Path) -> None:
    by_name = replays(played / "run")
    for name, replay in by_name.items():
        for seat in range(len(replay.header.entries)):
            (path,) = (played / "kept").glob(f"{name}-seat{seat}.transcript")
            received = path.read_bytes()
            assert commitment(replay.header.deal_secret) in received
            assert replay.header.deal_secret not in received
    logs = [path.read_text() for path in (played / "run" / "logs").rglob("*.log")]
    assert len(logs) == 12
    # A bot may print only after its process has begun its next match.
    assert sum(log.count("shared True secret none") for log in logs) == 12
    assert not any("CANNOT BE TRUSTED" in log for log in logs)


class PlayedBy(NamedTuple):
    """A match, and the process that played a seat of it."""

    match_id: str
    entry: str
    pid: str


def processes_of(out: Path) -> list[PlayedBy]:
    return [
        PlayedBy(path.parent.name, path.stem.partition("-")[2], noted[1])
        for path in (out / "logs").glob("*/*.log")
        if (noted := re.search(r"^# \S+ process (\d+)", path.read_text(), re.MULTILINE))
    ]


def test_no_process_lives_through_two_matches_of_one_deal(played: Path) -> None:
    seats = processes_of(played / "run")
    assert len(seats) == 12
    assert 6 <= len({seat.pid for seat in seats}) < 12  # 2 legs, in which processes are kept
    assert set(Counter((seat.pid, block_of(seat.match_id)) for seat in seats).values()) == {1}
    audited = asara("audit", played / "run")
    assert audited.returncode == 0, audited.stdout


def test_the_seed_of_an_entry_does_not_distinguish_its_processes(played: Path) -> None:
    texts = [path.read_text() for path in (played / "run" / "logs").rglob("*.log")]
    assert len(set(re.findall(r"seed (\d+)", " ".join(texts)))) == 3


def test_no_replay_of_a_block_may_be_read_before_all_its_matches_are_over(tmp_path: Path) -> None:
    out = tmp_path / "run"
    seen = []

    def look(_: int) -> bool:
        over = Counter(result.block for result in read_results(out / "results.jsonl"))
        published = Counter(map(block_of, replays(out)))
        assert published == {block: number for block, number in over.items() if number == 2}
        seen.append((over.total(), published.total()))
        return False

    play_run(tmp_path, HEADER, enough=look)
    assert seen == [(1, 0), (2, 0), (3, 0), (4, 2), (5, 4), (6, 6)]
    assert len(replays(out)) == 6


def test_a_run_that_was_stopped_within_a_block_keeps_its_replays_back_until_it_is_over(
    tmp_path: Path,
) -> None:
    out = play_run(tmp_path, HEADER, most=3)
    results = read_results(out / "results.jsonl")
    assert [result.match_id for result in results] == [
        "r1-basic-0001-1",
        "r1-basic-0002-2",
        "r1-basic-0003-1",
    ]
    assert not replays(out)
    shown = "Not played: 3 of 6 matches, 3 of them in blocks that have begun.\n"
    assert shown in asara("status", out).stdout
    assert asara("audit", out).returncode == 0
    info = json.loads((out / "run.json").read_text())
    assert (info["state"], info["tournament_secret"]) == ("cut short", None)
    assert (out / "run.json").stat().st_mode & 0o077 == 0
    play_run(tmp_path, HEADER, resume=True)
    assert shown not in asara("status", out).stdout
    assert len(replays(out)) == len(read_results(out / "results.jsonl")) == 6


def test_a_match_that_is_played_again_keeps_the_deal_of_its_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs: list[MatchSpec] = []
    really_play = Referee.play

    async def fail_once(self: Referee, spec: MatchSpec) -> MatchRecord:
        specs.append(spec)
        if len(specs) > 1:
            return await really_play(self, spec)
        return MatchRecord((), (), started_unix_ms=0, duration_us=1, void_reason="it failed")

    monkeypatch.setattr(Referee, "play", fail_once)
    header = HEADER.replace("jobs = 2", "jobs = 1")
    programs = {"ann": sample_bots.GOOD, "bob": sample_bots.GOOD}
    end = play(write_tournament(tmp_path, programs, header), tmp_path / "run")
    names = [spec.match_id for spec in specs]
    assert names == ["r1-basic-0001-1", "r1-basic-0001-2", "r1-basic-0001-1.2"]
    assert len({spec.secret for spec in specs}) == 1
    assert len({player.token for spec in specs for player in spec.players}) == 6
    assert end.standings.complete
    assert set(replays(tmp_path / "run")) == set(names[1:])


@pytest.mark.long
def test_when_a_process_cannot_be_ended_what_is_left_of_its_group_has_deals_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next group has legs again, as the process has ended by then."""

    async def leave_one(starter: ProcessStarter, bot: PooledBot) -> tuple[int, ...]:
        survivors = await end(starter, bot)
        return (4711,) if bot.entry == "cid" and bot.process else survivors

    end = ProcessStarter.end
    monkeypatch.setattr(ProcessStarter, "end", leave_one)
    monkeypatch.setattr(schedule, "LEG_S", 0.0)
    monkeypatch.setattr(schedule, "LEG_MATCHES", 1)  # so that each block is a group
    header = HEADER.replace("jobs = 2", "jobs = 1")
    played = play(write(tmp_path, header), tmp_path / "run")
    assert played.standings.complete
    assert set(played.out) == {"cid"}
    assert "process 4711" in played.out["cid"]
    by_name = replays(tmp_path / "run")
    own = {name for name, replay in by_name.items() if not replay.header.shared_deal}
    assert own == {f"{block_of(name)}-2" for name in own}
    assert len(own) == 1  # of the block in which it played first
    assert len({replay.header.deal_secret for replay in by_name.values()}) == 4
    audited = asara("audit", tmp_path / "run")
    assert audited.returncode == 0, audited.stdout
    assert "1 match had deals of their own, because some process of a bot" in audited.stdout


HAS_A_BOT = """
from asara_server.tournament.bots import living_bots
living_bots.hold_for("a bot")
living_bots.hold_for("a survivor")
living_bots.count_as_dead("a bot")
print(living_bots.others_have_bots(), flush=True)
input()
print(living_bots.others_have_bots(), flush=True)
living_bots.count_as_dead("a survivor")
"""


@pytest.mark.long
def test_bots_of_another_run_on_the_machine_are_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the two knows of the other."""
    # Programs of earlier tests, which may be about to end, do not count here.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    header = HEADER.replace("jobs = 2", "jobs = 1")
    with subprocess.Popen(
        [sys.executable, "-c", HAS_A_BOT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"False\n"
        assert others_have_bots()
        found: list[bytes] = []

        def end_the_other(_: Runner, __: MatchResult) -> None:
            found.extend(other.communicate(b"\n")[:1] if not found else [])

        play(write(tmp_path, header), tmp_path / "run", finished=end_the_other)
    assert found == [b"True\n"]
    assert not others_have_bots()
    audited = asara("audit", tmp_path / "run")
    assert audited.returncode == 0, audited.stdout
    assert "1 leg began while bots of other runs lived on the machine" in audited.stdout
