"""`asara analyse`: single replays and runs, refusals, and what an interruption leaves."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from asara_game.rules import parse_rule_sets
from asara_search.analysis import DecisionPrice
from asara_server.atomic_file import AppendedFile
from asara_server.cli.display.analyses import print_analysis
from asara_server.cli.options import output_file
from asara_server.replay import analysis
from asara_server.replay.analysis_file import Analysis, Value
from asara_server.replay.signing import SigningKey
from asara_server.replay.unfinished_analysis import UnfinishedAnalysis
from asara_server.user_error import UserError
from tests.cli.command import asara, refusal
from tests.match.playouts import random_replay, replay_bytes
from tests.replay.priced import Pricer, without_playouts
from tests.tournament.samples import change_run

HOLDS = """
import sys
from pathlib import Path
from asara_server.replay.unfinished_analysis import UnfinishedAnalysis
held = UnfinishedAnalysis(Path(sys.argv[1]), b"", "quick")
print("held", flush=True)
sys.stdin.read()
"""
REPLAY = random_replay(parse_rule_sets("basic"), 2, seed=1, replies=6)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    without_playouts(monkeypatch)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.asara"
    path.write_bytes(replay_bytes(REPLAY, SigningKey.new()))
    return path


def test_a_replay_is_analysed_once_and_its_analysis_is_next_to_it(file: Path) -> None:
    done = asara("analyse", file, status=0)
    assert done.stdout.startswith("Match random-1, in shares of a match (± 95 %)\n")
    for seat in (0, 1):
        assert f"Seat {seat} (bot {seat}) was " in done.stdout
    written = file.with_name("m.analysis.json")
    assert re.match(r"Analysing \d+ actions\n", done.stderr)
    assert done.stderr.endswith(
        f"The whole analysis: {written}\n"
        f"To see it with the match: asara replay page {file} --out m.html\n"
    )
    assert json.loads(written.read_bytes())["match_id"] == "random-1"
    about = written.stat().st_mtime_ns
    again = asara("analyse", file, status=0)
    assert again.stdout == done.stdout
    assert written.stat().st_mtime_ns == about


def test_losses_of_more_than_a_match_are_explained(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asara("analyse", file, status=0)
    found = Analysis.model_validate_json(file.with_name("m.analysis.json").read_bytes())
    first = next(one for one in found.decisions if one.loss is not None)
    for mean, explained in ((0.6, False), (1.2, True)):
        dear = first.model_copy(
            update={"label": "blunder", "loss": Value(mean=mean, error=0.1, worlds=9)}
        )
        capsys.readouterr()
        print_analysis(found.model_copy(update={"decisions": (dear,)}))
        assert ("so it can exceed 1." in capsys.readouterr().out) is explained


def test_what_cannot_be_analysed(file: Path, tmp_path: Path) -> None:
    assert "no such file" in refusal("analyse", tmp_path / "none.asara")
    assert "not the folder of a run" in refusal("analyse", tmp_path)
    assert "need the folder of a run" in refusal("analyse", file, "--matches", "2")
    assert "need the folder of a run" in refusal("analyse", file, "--against", tmp_path)
    assert "add --entry NAME" in refusal("analyse", tmp_path, "--against", tmp_path)
    file.write_bytes(file.read_bytes()[:-9])
    assert "record" in refusal("analyse", file)
    file.write_bytes(
        replay_bytes(random_replay(parse_rule_sets("basic"), 2, 1, replies=0), SigningKey.new())
    )
    assert "nothing to analyse" in refusal("analyse", file)
    assert not file.with_name("m.analysis.json").exists()


def test_an_interrupted_analysis_of_a_replay_continues(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = asara("analyse", file, status=0).stdout
    target, part = file.with_name("m.analysis.json"), file.with_name("m.analysis.json.quick.part")
    written = target.read_bytes()
    target.unlink()
    priced: list[object] = []
    price = Pricer.price

    def count(*decision: Any) -> DecisionPrice:
        priced.append(decision)
        if len(priced) == 4:
            raise KeyboardInterrupt
        return price(*decision)

    monkeypatch.setattr(Pricer, "price", count)
    assert "To continue, repeat the command" in asara("analyse", file, status=130).stderr
    assert not target.exists()
    again = asara("analyse", file, status=0)
    assert again.stdout == whole
    assert "Continuing the analysis of this match." in again.stderr
    assert target.read_bytes() == written
    assert len(priced) == sum(not one["forced"] for one in json.loads(written)["decisions"]) + 1
    assert not part.exists()
    target.unlink()
    part.write_bytes(b"nonsense\n")
    done = asara("analyse", file, status=0)
    assert (
        f"{part}: ignored from line 1 on: damaged, or from the analysis of another" in done.stderr
    )
    assert target.read_bytes() == written
    assert not part.exists()


def test_an_analysis_that_another_process_makes_is_left_to_it(file: Path, tmp_path: Path) -> None:
    part = tmp_path / "m.analysis.json.quick.part"
    command = [sys.executable, "-c", HOLDS, str(part)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        held = (
            f"{part}: another program has it open (process {holder.pid}): wait until that analysis "
            "is over, or stop it"
        )
        assert refusal("analyse", file) == f"asara: {held}\n"
        with pytest.raises(UserError, match=re.escape(held)):  # it began after that check
            UnfinishedAnalysis(part, b"", "quick")
        holder.kill()
    asara("analyse", file, status=0)
    assert not part.exists()


def test_a_full_disk_ends_an_analysis_in_a_sentence_and_it_continues_with_more_room(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, part = file.with_name("m.analysis.json"), file.with_name("m.analysis.json.quick.part")
    append = AppendedFile.append
    room = iter(range(3))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def nearly_full(kept: AppendedFile, data: bytes) -> None:
        if next(room, None) is None:
            append(kept, data[:9])
            full()
        append(kept, data)

    sentence = "cannot be written: No space left on device; make room on the disk, then repeat"
    with monkeypatch.context() as patch:
        patch.setattr(AppendedFile, "append", nearly_full)
        assert f"asara: {part}: {sentence} the command\n" in asara("analyse", file, status=1).stderr
    assert part.read_bytes().count(b"\n") == 3
    assert part.read_bytes()[-9:].isalnum()
    with monkeypatch.context() as patch:
        patch.setattr(output_file, "replace_file", full)
        assert (
            f"asara: {target}: {sentence} the command\n" in asara("analyse", file, status=1).stderr
        )
    monkeypatch.setattr(analysis, "DecisionPricer", lambda *_: None)  # everything has been priced
    assert "ignored" not in asara("analyse", file, status=0).stderr
    assert target.exists()
    assert not part.exists()


@pytest.mark.long
def test_a_run_is_analysed_match_by_match_and_continues_where_it_was(tmp_path: Path) -> None:
    run = tmp_path / "run"
    play = ("match", "random", "random", "--matches", "3", "--seed", "a", "--sandbox", "none")
    asara(*play, "-o", run, status=0)
    assert "the entries are random" in refusal("analyse", run, "--entry", "nobody")
    done = asara("analyse", run, "--matches", "2", status=0)
    assert done.stdout.startswith("2 matches: means per match")
    assert done.stderr.startswith("Analysing 2 matches\n1 of 2 matches\n2 of 2 matches\n")
    assert "asara replay ask " in done.stdout
    first, second = sorted((run / "analysis").iterdir())
    about = first.stat().st_mtime_ns
    second.unlink()
    again = asara("analyse", run, "--matches", "2", status=0)
    assert again.stdout == done.stdout
    assert "Continuing: analyses of 1 of 2 matches exist.\n" in again.stderr
    assert first.stat().st_mtime_ns == about
    assert second.exists()
    asara("analyse", sorted((run / "replays").iterdir())[2], status=0)
    assert len(list((run / "analysis").iterdir())) == 3
    assert "not checked: analysis" in asara("audit", run, status=0).stdout
    change_run(run, state="running")
    assert "this run has not ended, and its deals are secret" in refusal("analyse", run)


@pytest.mark.long
def test_an_entry_is_shown_where_it_loses_and_compared_with_an_earlier_run(tmp_path: Path) -> None:
    for run, seed in (("now", "a"), ("before", "a"), ("other", "b")):
        play = ("match", "random", "greedy", "--mirrored", "--seed", seed, "--sandbox", "none")
        asara(*play, "-o", tmp_path / run, status=0)
    now, before = tmp_path / "now", tmp_path / "before"
    done = asara("analyse", now, "--entry", "random", status=0).stdout
    title = "Where random loses by certain mistakes: means per match (no ± below 5 matches)"
    assert f"\n{title}\n" in done
    for group in ("all decisions", "space", "year 4"):
        assert f"\n{group} " in done
    commands = [line for line in done.splitlines() if "asara replay ask " in line]
    assert commands
    assert all(re.search(r"r1-basic-0001-[12]\.asara \d+ random --seat [01]$", c) for c in commands)
    compared = ("analyse", now, "--entry", "random", "--against")
    done = asara(*compared, before, status=0).stdout
    assert re.search(r"compared with .*: means of 2 matches with the same deal", done)
    assert re.search(r"score +0\.00 +0\.00 +\+0\.00\n", done)
    assert len(list((before / "analysis").iterdir())) == 2
    fault = refusal(*compared, tmp_path / "other")
    assert "have no deal in common" in fault
    assert not (tmp_path / "other" / "analysis").exists()
