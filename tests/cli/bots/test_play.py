"""`asara play`: the table, its links and its end; the page has tests of its own."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from asara.v1.event_pb2 import Termination
from asara_game.rules import parse_rule_sets
from asara_server.cli.sessions.play import analysed
from asara_server.network.addresses import socket_parent
from asara_server.referee.limits import LimitSettings
from asara_server.replay.analysis_file import Analysis
from asara_server.replay.file import read_replay
from asara_server.replay.losses import dearest
from asara_server.replay.signing import SigningKey
from asara_server.text import count
from tests.cli.command import in_terminal, received
from tests.events import EVENT_S, wait_until
from tests.match.playouts import random_replay, replay_bytes
from tests.referee.harness import play_bot
from tests.tournament.processes import children, running_processes
from tests.web.play_pipe import WebStream
from tests.web.play_table import parts_of, play_table, sit_down


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The table's folder for temporary files, with a path that is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="asara-", dir=socket_parent()) as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


def test_a_match_through_the_link_and_the_replay_stays(tmp_path: Path, temporary: Path) -> None:
    replays = tmp_path / "mine"
    words = ("--level", "1", "--matches", "1", "--clock", "600", "--out", str(replays))
    with play_table(*words) as table:
        address, fragment = parts_of(table.links[0])
        assert fragment["seats"] == "you,level-1"
        assert fragment["run"] == "mine"
        stopped = []
        ended = asyncio.run(sit_down(table.links[0], stay=lambda: stopped.append(table.stopped())))
    [(status, stdout, stderr)] = stopped
    assert status == 128 + signal.SIGTERM, stderr
    assert stderr.endswith("asara: stopped before the match was analysed\n")
    assert [result.entry for result in ended.results] == ["you", "level-1"]
    completed = Termination.TERMINATION_COMPLETED
    assert all(result.termination == completed for result in ended.results)
    assert "you" in stdout
    assert fragment["token"] not in stderr
    (file,) = replays.glob("*.asara")
    assert read_replay(file).header.entries == ("you", "level-1")
    assert not list(temporary.glob("asara-play-*"))
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://{address}/", timeout=EVENT_S)


@pytest.mark.long
@pytest.mark.parametrize(("answer", "level"), [("4", 4), ("", 2)])
def test_a_person_at_a_terminal_chooses_a_level(answer: str, level: int) -> None:
    with in_terminal("play", "--no-browser") as (process, terminal):
        terminal.write(f"6\n{answer}\n".encode())
        text = received(terminal, b"run=")
        process.send_signal(signal.SIGTERM)
        assert process.wait(EVENT_S) == 128 + signal.SIGTERM, text
    assert f"level-{level}".encode() in text
    assert text.count(b"Level of your opponent") == text.count(b" (press Enter for 2): ") == 1
    assert b"A number from 1 to 5: " in text


@pytest.mark.long
def test_two_people_and_a_bot_at_one_table() -> None:
    async def play(links: list[str]) -> None:
        address, fragment = parts_of(links[1])
        early = WebStream(address)
        await early.hello(fragment["token"])
        await early.expect("welcome")
        assert await asyncio.to_thread(table.printed, "player-2 has joined. Waiting for player-1\n")
        await asyncio.gather(play_bot(early), sit_down(links[0]))
        await (await early.socket()).close()

    with play_table("random", "--matches", "1", "--rules", "pro", people=2) as table:
        assert parts_of(table.links[1])[1]["seats"] == "player-1,player-2,random"
        asyncio.run(play(table.links))
        status, stdout, stderr = table.stopped()
    assert status == 128 + signal.SIGTERM, stderr
    assert "player-2" in stdout


FEW_PLAYOUTS = """
import sys
if "analyse" in sys.orig_argv:  # bots do without it
    from asara_search.analysis import BUDGETS, Budget
    BUDGETS["quick"] = Budget(candidates=4, choosing=4, years=1, pricing=1, doubtful=1, luck=1)
"""


@pytest.mark.long
def test_without_a_terminal_a_table_ends_when_its_match_is_analysed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The match is short, because the person's replies are soon nothing but wrong."""
    (tmp_path / "sitecustomize.py").write_text(FEW_PLAYOUTS)
    path = filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    replays = tmp_path / "mine"

    async def give_up(link: str) -> None:
        address, fragment = parts_of(link)
        stream = WebStream(address)
        await stream.hello(fragment["token"])
        decisions = 0
        while (response := await stream.read()).WhichOneof("response") != "match_ended":
            if response.HasField("decision"):
                decisions += 1
                if decisions == 1:
                    await stream.answer(response.decision, response.decision.legal_actions[0])
                else:
                    for _ in range(LimitSettings().match_limits.rejections_forgiven + 1):
                        await stream.answer(response.decision)
        await (await stream.socket()).close()

    words = ("random", "--matches", "1", "--seed", "a", "--out", str(replays))
    with play_table(*words) as table:
        asyncio.run(give_up(table.links[0]))
        status, stdout, stderr = table.ended()
    assert status == 0, stderr
    assert "The match is being analysed" in stderr
    found = Analysis.model_validate_json(next(replays.glob("*.analysis.json")).read_bytes())
    costly = dearest(found.decisions)[:3]
    assert costly
    heading = f"The {count(len(costly), 'decision')} that cost most"
    printed = stdout.partition(heading)[2].split()  # long cells are broken between words
    assert set(printed) >= {word for one in costly for word in one.chosen.split()}


@pytest.mark.long
def test_a_match_is_analysed_while_the_table_is_open(tmp_path: Path) -> None:
    file = tmp_path / "m1.asara"
    replay = random_replay(parse_rule_sets("basic"), 2, seed=1, replies=2)
    file.write_bytes(replay_bytes(replay, SigningKey.new()))
    with analysed(file):
        wait_until("the analysis", (tmp_path / "m1.analysis.json").exists)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_analysis_ends_with_a_table_that_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "m1.asara"
    file.write_bytes(
        replay_bytes(random_replay(parse_rule_sets("basic"), 2, seed=1), SigningKey.new())
    )
    begin = "from asara_server.cli.sessions.play import analysed"
    code = f"{begin}\nfrom pathlib import Path\nwith analysed(Path({str(file)!r})): input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as table:
        (child,) = wait_until("the analysis", lambda: children(table.pid, "analyse"))
        table.kill()
    wait_until("the analysis has ended", lambda: child not in running_processes())
    assert not (tmp_path / "m1.analysis.json").exists()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_table_at_once(number: signal.Signals, temporary: Path) -> None:
    with play_table("random") as table:
        table.process.send_signal(number)
        status, _, stderr = table.ended()
    assert status == 128 + number
    assert "Traceback" not in stderr
    assert not list(temporary.glob("asara-play-*"))


@pytest.mark.long
def test_a_terminal_that_is_closed_ends_the_table(temporary: Path) -> None:
    """Printing to a closed terminal raises errors. They must not keep the process alive."""
    with in_terminal("play", "random", "--no-browser") as (process, terminal):
        received(terminal, b"Ctrl-C")
        process.send_signal(signal.SIGHUP)
        terminal.close()
        assert process.wait(EVENT_S) == 128 + signal.SIGHUP
    assert not list(temporary.iterdir())
