"""Whole runs with real processes: a bot that misbehaves harms only itself."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from asara.verifier import make_nonce
from asara_codec.results import Termination
from asara_game.rules import parse_rule_sets
from asara_server.eventlog.resimulate import resimulated_steps
from asara_server.match import deal_secrets
from asara_server.replay.file import read_replay
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.tournament_file import load_tournament
from asara_server.tournament.run.directory import RunDirectory
from asara_server.tournament.runner import RunEnd, RunHooks, Runner
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.plan import planned_matches
from asara_server.tournament.schedule.schedule import ScheduledMatch, bot_seed
from asara_server.tournament.standings.match_result import MatchResult, read_results
from tests.tournament import sample_bots
from tests.tournament.failing_referee import fail_once
from tests.tournament.sample_bots import HASTY, HEADER, SEED, write_tournament

BASIC = parse_rule_sets("basic")


def play(
    file: Path,
    out: Path,
    tables: Sequence[tuple[str, ...]] = (),
    stop_after: int | None = None,
    sandbox: Sandbox | None = None,
) -> RunEnd:
    """Run a tournament, or only these tables of it, or stop it after some matches."""
    tournament = load_tournament(file)
    matches = [ScheduledMatch(f"m{i}", 1, BASIC, entries) for i, entries in enumerate(tables)]
    if not tables:
        matches = planned_matches(tournament)

    async def scenario() -> RunEnd:
        done = 0

        def finished(_: MatchResult) -> None:
            nonlocal done
            done += 1
            if done == stop_after:
                runner.stop()

        with closing(RunDirectory.create(out)) as directory:
            runner = Runner(
                tournament,
                matches,
                directory=directory,
                key=SigningKey.new(),
                hooks=RunHooks(finished),
                sandbox=sandbox,
            )
            return await runner.run()

    return asyncio.run(scenario())


def log(run: Path, match_id: str, bot: str) -> Path:
    """The log of a bot in a match; `bot` is its seat and entry."""
    return run / "logs" / match_id / f"{bot}.log"


def by_id(end: RunEnd) -> dict[str, MatchResult]:
    return {result.match_id: result for result in end.results}


def test_each_bad_bot_gets_its_forfeit_and_nobody_else_suffers(tmp_path: Path) -> None:
    programs = {
        "good": sample_bots.GOOD,
        "other": sample_bots.GOOD,
        "noisy": sample_bots.NOISY,
        "exits": sample_bots.EXITS,
        "mute": sample_bots.MUTE,
        "nonsense": sample_bots.NONSENSE,
        "crashes": sample_bots.CRASHES,
    }
    file = write_tournament(tmp_path, programs, HEADER + "jobs = 2\n", HASTY)
    out = tmp_path / "run"
    tables = [
        *(("good", name) for name in programs if name != "good"),
        ("noisy", "other"),
        ("other", "good"),
    ]
    end = play(file, out, tables)
    ends = {
        line.entry: (line.termination, line.detail)
        for result in end.results
        for line in result.forfeits
    }
    assert set(ends) == {"exits", "mute", "nonsense", "crashes"}
    assert ends["exits"] == (
        Termination.NEVER_STARTED,
        "exited with status 1; it printed: loading\ncannot load model.bin",
    )
    assert ends["mute"][0] == Termination.TIME_OUT
    assert ends["nonsense"][0] == Termination.REJECTED_REPLIES
    assert ends["crashes"] == (
        Termination.CRASH,
        "exited with status 3; it printed: no more memory",
    )
    assert len(end.results) == len(tables)
    assert end.standings.complete
    assert sorted(path.name for path in (out / "replays").iterdir()) == sorted(
        f"m{i}.asara" for i in range(len(tables))
    )
    details = [
        result.detail
        for path in (out / "replays").iterdir()
        for result in read_replay(path).results
    ]
    assert "exited with status 1" in details
    assert not any("cannot load" in detail for detail in details)  # for the organiser alone
    assert list(read_results(out / "results.jsonl")) == list(end.results)
    assert json.loads((out / "standings.json").read_text())["complete"] is True
    number = tables.index(("good", "crashes"))
    printed = log(out, f"m{number}", "1-crashes").read_text()
    assert "no more memory" in printed
    assert "exited with status 3" in printed
    assert not any("no more memory" in path.read_text() for path in out.rglob("*-good.log"))


@pytest.mark.long
def test_who_never_dials_in_forfeits_after_the_start_up_time(tmp_path: Path) -> None:
    file = write_tournament(
        tmp_path,
        {"good": sample_bots.GOOD, "sleeps": sample_bots.SLEEPS},
        tables="[clocks]\nstart_up_s = 20\n",
    )
    end = play(file, tmp_path / "run", [("good", "sleeps")])
    (line,) = end.results[0].forfeits
    assert line.termination == Termination.NEVER_STARTED
    assert line.detail == "did not connect within 20 s; it printed: thinking about it"


@pytest.mark.long
def test_garbage_without_end_costs_its_own_match_only_and_is_cut(tmp_path: Path) -> None:
    file = write_tournament(
        tmp_path,
        {"good": sample_bots.GOOD, "garbage": sample_bots.GARBAGE},
        tables="[clocks]\nstart_up_s = 20\n[limits]\noutput_bytes = 50_000\n",
    )
    end = play(file, tmp_path / "run", [("garbage", "good")])
    (line,) = end.results[0].forfeits
    assert line.termination == Termination.NEVER_STARTED
    assert line.detail.replace("\n", "").isprintable()
    printed = log(tmp_path / "run", "m0", "0-garbage").read_bytes()
    assert printed.endswith(b"# cut: only 50,000 bytes are kept\n")


@pytest.mark.long
def test_after_some_failed_starts_an_entry_is_out_without_further_waiting(tmp_path: Path) -> None:
    file = write_tournament(
        tmp_path,
        {"good": sample_bots.GOOD, "sleeps": sample_bots.SLEEPS},
        HEADER + "jobs = 1\n",
        "[clocks]\nstart_up_s = 12\n[limits]\nfailed_starts = 2\n",
    )
    end = play(file, tmp_path / "run", [("good", "sleeps")] * 30)
    ends = {line.termination for result in end.results for line in result.forfeits}
    assert ends == {Termination.NEVER_STARTED}
    assert end.unstartable == {
        "sleeps": "not started again after 2 failures in a row: "
        "did not connect within clocks.start_up_s"
    }
    details = [by_id(end)[f"m{number}"].forfeits[0].detail for number in range(30)]
    assert details[2:] == [end.unstartable["sleeps"]] * 28


@pytest.mark.long
@pytest.mark.parametrize("processes", ["run", "match"])
def test_who_forfeits_too_often_is_suspended(tmp_path: Path, processes: str) -> None:
    file = write_tournament(
        tmp_path,
        {"good": sample_bots.GOOD, "crashes": sample_bots.CRASHES},
        HEADER + f'jobs = 1\nprocess_per = "{processes}"\n',
        "[limits]\nsuspend_share = 0.4\nsuspend_after = 3\n",
    )
    end = play(file, tmp_path / "run", [("good", "crashes")] * 6)
    why = "suspended after it forfeited 3 of its first 3 matches"
    assert end.suspended == {"crashes": why}
    assert end.unstartable == {}
    forfeits = [by_id(end)[f"m{i}"].forfeits[0] for i in range(6)]
    assert [line.termination for line in forfeits] == (
        [Termination.CRASH] * 3 + [Termination.SUSPENDED] * 3
    )
    assert [line.detail for line in forfeits[3:]] == [why] * 3
    info = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (info["suspended"], info["out"], info["sandbox"]) == ({"crashes": why}, {}, "none")
    assert not log(tmp_path / "run", "m3", "1-crashes").exists()


@pytest.mark.long
def test_idle_processes_make_room_for_others(tmp_path: Path) -> None:
    programs = {"ann": sample_bots.GOOD, "bob": sample_bots.GOOD, "cid": sample_bots.GOOD}
    file = write_tournament(
        tmp_path,
        programs,
        HEADER + "jobs = 1\n",
        "[limits]\nidle_processes = 1\n",
    )
    end = play(file, tmp_path / "run", [("ann", "bob"), ("ann", "cid"), ("ann", "cid")])
    assert not any(result.forfeits for result in end.results)
    starts = dict.fromkeys(programs, 0)
    for path in (tmp_path / "run" / "logs").glob("*/*.log"):
        starts[path.stem.partition("-")[2]] += path.read_text().count(": python ")
    assert starts["bob"] == 1
    assert sum(starts.values()) == 5  # of each pair that is given back, one is kept


def test_a_table_of_bots_that_all_fail_ends_in_a_tie(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, {"one": sample_bots.EXITS, "two": sample_bots.EXITS})
    end = play(file, tmp_path / "run", [("one", "two")])
    assert [line.rank for line in end.results[0].seats] == [1, 1]
    assert [line.win_share for line in end.standings.overall] == [0, 0]


@pytest.mark.long
@pytest.mark.parametrize("processes", ["run", "match"])
def test_standings_do_not_depend_on_how_many_matches_run_at_once(
    tmp_path: Path, processes: str
) -> None:
    programs = {"ann": sample_bots.GOOD, "bob": sample_bots.GOOD, "cid": sample_bots.GOOD}
    seats, played = {"run": (2, 6), "match": (3, 3)}[processes]
    header = HEADER.replace("seats = 2", f"seats = {seats}") + f'process_per = "{processes}"\n'
    files = []
    for at_once in (1, 3):
        folder = tmp_path / f"{at_once}"
        folder.mkdir()
        file = write_tournament(folder, programs, f"{header}jobs = {at_once}\n", "")
        play(file, folder / "run")
        files.append((folder / "run" / "standings.json").read_bytes())
        logs = list((folder / "run" / "logs").glob("*/*-*.log"))
        assert len(logs) == played * seats
        started = sum(": python " in path.read_text() for path in logs)
        if processes == "match":
            assert started == len(logs)
        elif at_once == 1:
            assert started == len(programs)
    assert files[0] == files[1]


@pytest.mark.long
def test_a_stopped_run_keeps_what_was_finished_and_says_what_was_cut(tmp_path: Path) -> None:
    file = write_tournament(
        tmp_path,
        {"good": sample_bots.GOOD, "other": sample_bots.GOOD},
        HEADER + "jobs = 1\nrounds = 200\n",
    )
    end = play(file, tmp_path / "run", stop_after=3)
    assert len(end.results) == 3
    assert not end.standings.complete
    assert end.standings.matches.scheduled == 400
    path = tmp_path / "run" / "run.json"
    info = json.loads(path.read_text())
    assert info["state"] == "cut short"
    assert info["tournament_secret"] is None  # matches may still be played with it
    assert len(bytes.fromhex(info["deal_commitment"])) == 32
    assert path.stat().st_mode & 0o077 == 0


def test_a_match_in_which_the_referee_fails_is_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = fail_once(monkeypatch)
    file = write_tournament(tmp_path, {"good": sample_bots.GOOD, "other": sample_bots.GOOD})
    end = play(file, tmp_path / "run", [("good", "other")])
    assert [(r.attempt, r.void) for r in end.results] == [(1, True), (2, False)]
    assert [spec.match_id for spec in specs] == ["m0", "m0.2"]
    assert specs[0].secret != specs[1].secret
    assert end.standings.complete
    assert [path.name for path in (tmp_path / "run" / "replays").iterdir()] == ["m0.2.asara"]


def test_a_bot_whose_program_cannot_be_executed_forfeits_with_the_reason(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, {"good": sample_bots.GOOD, "other": sample_bots.GOOD})
    script = tmp_path / "broken"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    file.write_text(file.read_text().replace("python other.py", "./broken"))
    end = play(file, tmp_path / "run", [("good", "other")])
    (line,) = end.results[0].forfeits
    assert (
        line.detail
        == "could not be started: its first line names an interpreter that does not exist"
    )


@pytest.mark.long
def test_a_drawn_seed_is_recorded_and_reproduces_the_run(tmp_path: Path) -> None:
    header = HEADER.replace(f'seed = "{SEED}"\n', "")
    programs = {"good": sample_bots.GOOD, "other": sample_bots.GOOD}
    file = write_tournament(tmp_path, programs, header)
    play(file, tmp_path / "run")
    path = tmp_path / "run" / "run.json"
    info = json.loads(path.read_text())
    assert info["seed_drawn"] is True
    write_tournament(tmp_path, programs, f'{header}seed = "{info["seed"]}"\n')
    play(file, tmp_path / "again")
    assert (tmp_path / "run/standings.json").read_bytes() == (
        tmp_path / "again/standings.json"
    ).read_bytes()


def test_clocks_of_the_file_reach_the_bots(tmp_path: Path) -> None:
    program = sample_bots.GOOD.replace(
        "lambda decision, match:", "lambda decision, match: print(match.started.clocks) or"
    )
    tables = "[clocks]\ntime_bank_s = 17\n"
    file = write_tournament(tmp_path, {"good": sample_bots.GOOD, "curious": program}, tables=tables)
    play(file, tmp_path / "run", [("good", "curious")])
    assert "bank_us: 17000000" in log(tmp_path / "run", "m0", "1-curious").read_text()


def test_all_deals_derive_from_one_secret_that_is_opened_at_the_end(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, {"good": sample_bots.GOOD, "other": sample_bots.GOOD})
    play(file, tmp_path / "run")
    path = tmp_path / "run" / "run.json"
    info = json.loads(path.read_text())
    secret = bytes.fromhex(info["tournament_secret"])
    assert secret == deal_secrets.tournament_secret(SEED)
    assert info["deals"] == "committed"
    assert info["deal_commitment"] == hashlib.sha256(secret).hexdigest()
    assert path.stat().st_mode & 0o777 == 0o644
    replays = [read_replay(one).header for one in (tmp_path / "run" / "replays").iterdir()]
    assert len(replays) == 2
    for header in replays:
        assert header.deal_secret == deal_secrets.match_secret(secret, header.match_id)
        assert header.nonces == ()


WITHOUT_NONCE = """
import os, grpc
from asara.v1.play_pb2 import Hello, PlayRequest
channel = grpc.insecure_channel(os.environ["ASARA_ADDRESS"])
hello = PlayRequest(hello=Hello(protocol_version=1, token=os.environ["ASARA_TOKEN"]))
call = channel.stream_stream(
    "/asara.v1.PlayService/Play", request_serializer=PlayRequest.SerializeToString
)
def requests():
    yield hello
    import signal, threading
    threading.Event().wait()
for response in call(requests()):
    pass
"""


@pytest.mark.long
def test_joint_deals_take_a_nonce_of_every_bot(tmp_path: Path) -> None:
    programs = {"good": sample_bots.GOOD, "other": sample_bots.GOOD, "silent": WITHOUT_NONCE}
    header = HEADER + 'deals = "joint"\njobs = 2\n'
    file = write_tournament(tmp_path, programs, header, HASTY)
    end = play(file, tmp_path / "run", [("good", "other"), ("other", "silent")])
    assert by_id(end)["m0"].forfeits == ()
    (line,) = by_id(end)["m1"].forfeits
    assert (line.termination, line.detail.split(";")[0]) == (
        Termination.NEVER_STARTED,
        "sent no nonce within 8 s",
    )
    replays = {p.stem: read_replay(p) for p in (tmp_path / "run" / "replays").iterdir()}
    for seat, name in enumerate(("good", "other")):
        seed = bot_seed(SEED, name)
        assert replays["m0"].header.nonces[seat] == make_nonce(seed, "m0", seat)
    assert replays["m1"].header.nonces[1] == b""
    for replay in replays.values():
        list(resimulated_steps(replay))
    play(file, tmp_path / "again", [("good", "other")])
    again = read_replay(tmp_path / "again" / "replays" / "m0.asara")
    assert again.header.nonces == replays["m0"].header.nonces


def test_bots_of_joint_deals_draw_their_own_dice_unless_the_file_has_a_seed(
    tmp_path: Path,
) -> None:
    header = HEADER.replace(f'seed = "{SEED}"\n', 'deals = "joint"\n')
    program = (
        "import os\nprint('seed', os.environ.get('ASARA_SEED'), flush=True)" + sample_bots.GOOD
    )
    file = write_tournament(tmp_path, {"good": program, "other": sample_bots.GOOD}, header)
    play(file, tmp_path / "run", [("good", "other")])
    assert "seed None" in log(tmp_path / "run", "m0", "0-good").read_text()
    (path,) = (tmp_path / "run" / "replays").iterdir()
    assert len(set(read_replay(path).header.nonces)) == 2
