"""`asara replay decision` and `asara replay ask`, with real bots."""

import json
import shutil
from pathlib import Path

import pytest
from google.protobuf.json_format import Parse

from asara.bridge.message_json import message_json
from asara.v1.play_pb2 import Decision
from asara_server.replay.file import read_replay
from asara_server.replay.questions import question
from tests.cli.command import asara, refusal
from tests.sizes import others_long
from tests.tournament.sandbox_config import sandbox_or_skip

REPLAY = Path("run/replays/r1-basic-0001.asara")

CHANGED = """
import os
import asara

class Changed(asara.Bot):
    def started(self):
        self.events = self.match.started.sequence

    def updated(self, events):
        self.events += len(events)

    def decide(self, decision):
        open("weights.txt").close()
        assert self.events == decision.sequence
        assert not os.path.exists("run")
        print("shown only if it fails")
        return decision.legal_actions[-1]

asara.run(Changed)
"""
FAULTY = """
import signal
import asara

def decide(decision, match):
    if decision.decision_id == 2:
        {fault}
    return decision.legal_actions[0]

asara.run(decide)
"""
FAULTS = {
    "crash": (
        "raise SystemExit('no plan')",
        "ended before it replied to decision 2: exited with status 1",
    ),
    "hang": ("signal.pause()", "did not reply to decision 2 within 0.3 s"),
    "error": ("[][0]", "ended before it replied to decision 2: exited with status 1"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with bots and the run of one match between random and random-2."""
    folder = tmp_path_factory.mktemp("ask")
    (folder / "changed.py").write_text(CHANGED)
    (folder / "weights.txt").write_text("1 2 3")
    (folder / "silent.py").write_text("import asara\n")
    illegal = "return asara.Action(build_count=asara.BuildCount(count=4))"
    for name, fault in (*((name, fault) for name, (fault, _) in FAULTS.items()), ("odd", illegal)):
        (folder / f"{name}.py").write_text(FAULTY.format(fault=fault))
    asara("match", "random", "random", "--seed", "x", "--out", "run", cwd=folder, status=0)
    return folder


@pytest.mark.long
def test_a_decision_is_written_as_its_seat_was_sent_it(folder: Path) -> None:
    done = asara("replay", "decision", REPLAY, "5", "--seat", "1", cwd=folder, status=0)
    message = Parse(done.stdout, Decision())
    assert message == question(read_replay(folder / REPLAY), 1, 5).decision
    written = json.loads(done.stdout)
    assert written["decision_id"] == "5"
    assert set(written["view"]) == {"public_view", "private_view"}
    assert written == json.loads(message_json(message)), "another form than that of the bridge"


def test_a_decision_that_there_is_not(folder: Path) -> None:
    for words, why in (
        (("5", "--seat", "2"), "there is no seat 2; this match has seats 0 to 1"),
        (("5000", "--seat", "0"), "decisions; there is no decision 5000"),
    ):
        done = asara("replay", "decision", REPLAY, *words, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"asara: {REPLAY}: ")
        assert why in done.stderr
    error = refusal("replay", "decision", folder / REPLAY, "5")
    assert error.endswith("--seat is missing; choose from 0 (random), 1 (random-2)\n")
    assert "N: " in refusal("replay", "decision", folder / REPLAY, "0", "--seat", "0")


def test_an_unchanged_bot_gives_the_same_answers_with_the_seed_of_its_run(folder: Path) -> None:
    done = asara("replay", "ask", REPLAY, "20", "random", cwd=folder, status=0)
    title, head, recorded, now, verdict = done.stdout.splitlines()
    assert title.startswith("Match r1-basic-0001, seat 0 (random), decision 20 (kind: ")
    assert head.split() == ["bot", "reply", "seconds"]
    assert recorded.split()[1:-1] == now.split()[1:-1]
    assert (recorded.split()[0], now.split()[0]) == ("recorded", "random")
    assert verdict == "The replies are the same. So are the replies to all earlier decisions."


def test_a_changed_bot_knows_all_events_and_nothing_of_the_run(folder: Path) -> None:
    sandbox_or_skip()
    words = ("replay", "ask", REPLAY, "9", "changed.py", "--seat", "1", "--sandbox", "bubblewrap")
    done = asara(*words, cwd=folder, status=0)
    assert done.stderr == ""
    verdict = " ".join(done.stdout.split())
    assert "Earlier decisions with different replies: " in verdict
    assert verdict.endswith(" of 8).")


def test_an_illegal_answer_is_rejected_as_in_the_match(folder: Path) -> None:
    words = ("replay", "ask", REPLAY, "2", "odd.py", "--seat", "0")
    done = asara(*words, "--sandbox", "none", cwd=folder, status=1)
    assert "rejected (illegal action): 'build 4'" in done.stdout
    assert "The referee would reject the reply from odd." in done.stdout


@pytest.mark.parametrize("name", others_long(FAULTS, 3))
def test_a_bot_that_fails_is_reported_with_the_decision(folder: Path, name: str) -> None:
    words = ("replay", "ask", REPLAY, "6", f"{name}.py", "--seat", "0", "--sandbox", "none")
    done = asara(*words, *(("--limit", "0.3") if name == "hang" else ()), cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    *printed, error = done.stderr.splitlines()
    assert error == f"asara: {name} {FAULTS[name][1]}"
    assert printed[0] == f"{name} printed:"
    if name == "crash":
        assert printed[-1] == "  no plan"
    elif name == "hang":
        assert printed[1].endswith("has taken its whole time, 0.3 s, and is still here:")
        assert printed[-1] == "      signal.pause()"
    else:
        assert printed[-1] == "  in r1-basic-0001, decision 2 (buyers)"


def test_a_bot_that_never_connects_is_reported(folder: Path) -> None:
    words = ("replay", "ask", REPLAY, "6", "silent.py", "--seat", "0", "--sandbox", "none")
    error = "ended without connecting: exited with status 0; the program has to call"
    assert f"\nasara: silent {error}" in f"\n{asara(*words, cwd=folder, status=1).stderr}"


@pytest.mark.long
def test_it_is_said_when_no_seed_is_recorded(folder: Path) -> None:
    replay = shutil.copy(folder / REPLAY, folder / "alone.asara")
    done = asara("replay", "ask", replay, "20", "random", cwd=folder)
    assert "the ASARA_SEED of the match is unknown" in " ".join(done.stdout.split())


def test_the_seat_is_the_one_named_like_the_bot_or_must_be_chosen(folder: Path) -> None:
    error = refusal("replay", "ask", folder / REPLAY, "3", folder / "changed.py")
    assert error == (
        "asara: --seat: choose the seat to ask for 'changed': 0 (random), 1 (random-2)\n"
    )
