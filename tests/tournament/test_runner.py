"""Whole runs with real processes: a bot that misbehaves harms only itself."""

import json
from pathlib import Path

import pytest

from asara.verifier import make_nonce
from asara_codec.results import Termination
from asara_server.journal.replay import Replay
from asara_server.journal.resimulate import resimulated_steps
from asara_server.match.deal_secrets import bot_seed
from asara_server.replay.file import read_replay
from tests.tournament import sample_bots
from tests.tournament.played_runs import play_run
from tests.tournament.runs import matches_at, play
from tests.tournament.sample_bots import HEADER, SEED, write_tournament
from tests.tournament.samples import read_results


def log(run: Path, match_id: str, bot: str) -> Path:
    """The log of a bot in a match; `bot` is its seat and entry."""
    return run / "logs" / match_id / f"{bot}.log"


def test_each_bad_bot_gets_its_forfeit_and_nobody_else_suffers(tmp_path: Path) -> None:
    programs = {
        "good": sample_bots.GOOD,
        "other": sample_bots.GOOD,
        "exits": sample_bots.EXITS,
        "crashes": sample_bots.CRASHES,
    }
    file = write_tournament(tmp_path, programs, HEADER + "jobs = 2\n")
    out = tmp_path / "run"
    tables = [("good", "other"), ("good", "exits"), ("good", "crashes"), ("other", "good")]
    end = play(file, out, matches=matches_at(*tables))
    ends = {
        line.entry: (line.termination, line.detail, line.printed)
        for result in end.results
        for line in result.forfeits
    }
    assert ends == {
        "exits": (
            Termination.NEVER_STARTED,
            "exited with status 1",
            ("loading", "cannot load model.bin"),
        ),
        "crashes": (Termination.CRASH, "exited with status 3", ("no more memory",)),
    }
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


def test_bots_of_joint_deals_draw_their_own_dice_unless_the_file_has_a_seed(
    tmp_path: Path,
) -> None:
    says = "import os\nprint('seed', os.environ.get('ASARA_SEED'), flush=True)" + sample_bots.GOOD
    programs = {"good": says, "other": sample_bots.GOOD}

    def played(run: str, seed: str) -> Replay:
        header = HEADER.replace(f'seed = "{SEED}"\n', f'deals = "joint"\n{seed}')
        file = write_tournament(tmp_path, programs, header)
        end = play(file, tmp_path / run, matches=matches_at(("good", "other")))
        assert end.results[0].forfeits == ()
        replay = read_replay(tmp_path / run / "replays" / "m0.asara")
        list(resimulated_steps(replay))
        return replay

    assert len(set(played("drawn", "").header.nonces)) == 2
    assert "seed None" in log(tmp_path / "drawn", "m0", "0-good").read_text()
    for seat, nonce in enumerate(played("seeded", f'seed = "{SEED}"\n').header.nonces):
        assert nonce == make_nonce(bot_seed(SEED, ("good", "other")[seat]), "m0", seat)
