"""Whole runs with real processes: a bot that misbehaves harms only itself."""

import json
from pathlib import Path

import pytest

from asara.verifier import make_nonce
from asara_codec.results import Termination
from asara_server.eventlog.resimulate import resimulated_steps
from asara_server.replay.file import read_replay
from asara_server.tournament.schedule.schedule import bot_seed
from tests.tournament import sample_bots
from tests.tournament.played_runs import play_run
from tests.tournament.runs import by_id, matches_at, play
from tests.tournament.sample_bots import HASTY, HEADER, SEED, write_tournament
from tests.tournament.samples import read_results


def log(run: Path, match_id: str, bot: str) -> Path:
    """The log of a bot in a match; `bot` is its seat and entry."""
    return run / "logs" / match_id / f"{bot}.log"


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
    end = play(file, out, matches=matches_at(*tables))
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
    details = [end.detail for path in (out / "replays").iterdir() for end in read_replay(path).ends]
    assert "exited with status 1" in details
    assert not any("cannot load" in detail for detail in details)  # for the organiser alone
    assert read_results(out / "results.jsonl") == list(end.results)
    assert json.loads((out / "standings.json").read_text())["complete"] is True
    number = tables.index(("good", "crashes"))
    printed = log(out, f"m{number}", "1-crashes").read_text()
    assert "no more memory" in printed
    assert "exited with status 3" in printed
    assert not any("no more memory" in path.read_text() for path in out.rglob("*-good.log"))


@pytest.mark.long
def test_idle_processes_make_room_for_others(tmp_path: Path) -> None:
    programs = {"ann": sample_bots.GOOD, "bob": sample_bots.GOOD, "cid": sample_bots.GOOD}
    file = write_tournament(
        tmp_path,
        programs,
        HEADER + "jobs = 1\n",
        "[limits]\nidle_processes = 1\n",
    )
    end = play(
        file, tmp_path / "run", matches=matches_at(("ann", "bob"), ("ann", "cid"), ("ann", "cid"))
    )
    assert not any(result.forfeits for result in end.results)
    starts = dict.fromkeys(programs, 0)
    for path in (tmp_path / "run" / "logs").glob("*/*.log"):
        starts[path.stem.partition("-")[2]] += path.read_text().count(": python ")
    assert starts["bob"] == 1
    assert sum(starts.values()) == 5  # of each pair that is given back, one is kept


def test_a_bot_whose_program_cannot_be_executed_forfeits_with_the_reason(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, {"good": sample_bots.GOOD, "other": sample_bots.GOOD})
    script = tmp_path / "broken"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    file.write_text(file.read_text().replace("python other.py", "./broken"))
    end = play(file, tmp_path / "run", matches=matches_at(("good", "other")))
    (line,) = end.results[0].forfeits
    assert (
        line.detail
        == "could not be started: its first line names an interpreter that does not exist"
    )


def test_a_drawn_seed_is_recorded_and_reproduces_the_run(tmp_path: Path) -> None:
    header = HEADER.replace(f'seed = "{SEED}"\n', "")
    first = play_run(tmp_path / "first", header)
    info = json.loads((first / "run.json").read_text())
    assert info["seed_drawn"] is True
    again = play_run(tmp_path / "again", f'{header}seed = "{info["seed"]}"\n')
    assert (first / "standings.json").read_bytes() == (again / "standings.json").read_bytes()


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
    end = play(file, tmp_path / "run", matches=matches_at(("good", "other"), ("other", "silent")))
    assert by_id(end)["m0"].forfeits == ()
    (line,) = by_id(end)["m1"].forfeits
    assert (line.termination, line.detail.split(";")[0]) == (
        Termination.NEVER_STARTED,
        "sent no nonce within 60 s",
    )
    replays = {p.stem: read_replay(p) for p in (tmp_path / "run" / "replays").iterdir()}
    for seat, name in enumerate(("good", "other")):
        seed = bot_seed(SEED, name)
        assert replays["m0"].header.nonces[seat] == make_nonce(seed, "m0", seat)
    assert replays["m1"].header.nonces[1] == b""
    for replay in replays.values():
        list(resimulated_steps(replay))
    play(file, tmp_path / "again", matches=matches_at(("good", "other")))
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
    play(file, tmp_path / "run", matches=matches_at(("good", "other")))
    assert "seed None" in log(tmp_path / "run", "m0", "0-good").read_text()
    (path,) = (tmp_path / "run" / "replays").iterdir()
    assert len(set(read_replay(path).header.nonces)) == 2
