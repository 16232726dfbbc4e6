import json
import re
import signal
from pathlib import Path

import pytest

from tests.cli.command import asara, asara_process, started
from tests.events import EVENT_S
from tests.tournament import sample_bots
from tests.tournament.samples import read_results

STEADY = """
import asara
asara.run(lambda decision, match: decision.legal_actions[0])
"""
"""A bot that plays every match in the same way, so that a twin scores ½ in every block."""

SLOW = """
import time
import asara
def decide(decision, match):
    time.sleep(0.005)
    return match.random.choice(decision.legal_actions)
asara.run(decide)
"""
"""A random bot that takes long enough for a duel to be stopped."""


def write(folder: Path, **programs: str) -> None:
    for name, code in programs.items():
        (folder / f"{name}.py").write_text(code)


def test_greedy_is_better_than_random(tmp_path: Path) -> None:
    words = "duel greedy random --margin 0.4 --seed spring --jobs 2 --out run --json answer.json"
    done = asara(*words.split(), cwd=tmp_path, status=0)
    sentence = re.fullmatch(
        r"greedy is better than random: it scored (0\.\d{3}|1\.000) "
        r"\(95% interval (0\.\d{3})–(\d\.\d{3})\) in (\d+) blocks of two matches\. "
        r"If the bots were equal, at most 5 in 100 duels would end with this verdict\.\n",
        done.stdout,
    )
    assert sentence, done.stdout
    score, low, high, blocks = map(float, sentence.groups())
    assert 0.5 < low <= score <= high
    heading = done.stderr.splitlines()[:4]
    assert heading[:2] == [
        "greedy against random, 2 matches at a time (rules: basic)",
        "A bot counts as better if its expected score is at least 0.9 (382 Elo).",
    ]
    report = json.loads((tmp_path / "answer.json").read_text())
    assert report["sentence"] == done.stdout.strip()
    assert report["entries"] == ["greedy", "random"]
    assert (report["verdict"], report["better"]) == ("a better", "greedy")
    assert report["blocks"] == sum(report["counts"]) == blocks
    assert report["log_likelihood_ratios"][0] >= report["bounds"][1]
    standings = json.loads((tmp_path / "run" / "standings.json").read_text())
    assert standings["complete"]
    assert standings["matches"]["played"] == 2 * standings["matches"]["blocks"]
    assert standings["matches"]["blocks"] >= blocks
    results = read_results(tmp_path / "run" / "results.jsonl")
    assert {path.stem for path in (tmp_path / "run" / "replays").iterdir()} == {
        result.match_id for result in results
    }


@pytest.mark.long
def test_a_bot_is_not_better_than_itself_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, steady=STEADY)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    done = asara_process("duel", "steady.py", "steady.py", "--margin", "0.4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (  # by hand: the interval ends at ½ times the 2nd root of 1/20
        "Neither is better by 0.4 (382 Elo) or more: steady scored 0.500 "
        "(95% interval 0.112–0.888) in 2 blocks of two matches against steady-2. "
        "If one were, at most 5 in 100 duels would end with this verdict.\n"
    )
    assert list(temporary.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"steady.py", "temporary"}


@pytest.mark.long
def test_it_says_that_it_cannot_tell_and_the_answer_does_not_depend_on_how_many_play_at_once(
    tmp_path: Path,
) -> None:
    words = ("duel", "random", "random", "--max-blocks", "2", "--seed", "spring")
    answers = []
    for at_once in ("1", "3"):
        done = asara(*words, "--jobs", at_once, "--json", "answer.json", cwd=tmp_path, status=3)
        assert done.stdout.startswith(
            "The duel ended without a verdict on whether random or random-2 is better: "
            "random scored 0."
        )
        assert "in 2 blocks of two matches. To play longer, raise --max-blocks." in done.stdout
        answers.append((tmp_path / "answer.json").read_bytes())
    assert answers[0] == answers[1]
    assert json.loads(answers[0])["verdict"] == "open"


@pytest.mark.long
def test_forfeits_are_lost_matches_and_are_told(tmp_path: Path) -> None:
    write(tmp_path, crashes=sample_bots.CRASHES, steady=STEADY)
    done = asara("duel", "crashes.py", "steady.py", "--margin", "0.45", cwd=tmp_path, status=0)
    assert "steady is better than crashes: it scored 1.000" in done.stdout
    # A bot that always fails is suspended during the duel.
    line = r"crashes forfeited (\d+) of \1 matches, which count as losses: crash \d+"
    assert re.search(line, done.stderr)
    assert "no more memory" in done.stderr


@pytest.mark.long
def test_a_bot_that_does_not_start_ends_it_with_the_reason(tmp_path: Path) -> None:
    write(tmp_path, exits=sample_bots.EXITS)
    done = asara("duel", "random", "exits.py", "--json", "answer.json", cwd=tmp_path, status=1)
    assert done.stdout == ""
    assert done.stderr.endswith(
        "asara: exits did not start: exited with status 1; "
        "it printed: loading; cannot load model.bin\n"
    )
    assert not (tmp_path / "answer.json").exists()


@pytest.mark.long
def test_a_duel_that_is_stopped_says_what_is_known(tmp_path: Path) -> None:
    write(tmp_path, slow=SLOW)
    written = ("--out", tmp_path / "run", "--json", tmp_path / "answer.json")
    with started("duel", "slow.py", "slow.py", *written, cwd=tmp_path) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if re.match(r"\d+ blocks?: ", line))
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=EVENT_S)
    assert len(line) <= 81
    assert re.fullmatch(
        r"\d+ blocks?: [01]\.\d{3} \([01]\.\d{3}–[01]\.\d{3}\)"
        r"  -3\.0 \[#*·*\] 3\.7  ~[\d,]+ blocks? to go\n",
        line,
    )
    assert process.returncode == 128 + signal.SIGINT
    assert "Traceback" not in stderr
    assert stdout.startswith("The duel was stopped without a verdict on whether slow or slow-2 is ")
    assert "--max-blocks" not in stdout
    assert json.loads((tmp_path / "answer.json").read_text())["blocks"] >= 1
    assert json.loads((tmp_path / "run" / "run.json").read_text())["state"] == "cut short"
