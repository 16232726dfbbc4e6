"""Bots as processes, configured by the environment."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import grpc
import pytest

from asara import watchdog
from asara.v1.play_pb2 import PlayResponse
from tests.contract.client import scripted
from tests.contract.client.scripted import ScriptedReferee, Stream
from tests.events import EVENT_S, wait_until
from tests.sizes import others_long

ROOT = Path(__file__).parents[3]
RANDOM = ROOT / "bots/random/main.py"
*EXAMPLES, TRANSCRIPT_READER = re.findall(
    r"```python\n(.*?)```", (ROOT / "clients/python/README.md").read_text(), re.DOTALL
)
assert len(EXAMPLES) == 3


def start(program: Path | str, referee: ScriptedReferee | None = None) -> subprocess.Popen[str]:
    settings = {"ASARA_ADDRESS": referee.address, "ASARA_TOKEN": "secret"} if referee else {}
    command = [sys.executable, *([program] if isinstance(program, Path) else ["-c", program])]
    return subprocess.Popen(
        command,
        env={**os.environ, **settings, "ASARA_SEED": "7"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=EVENT_S)
    return process.returncode, out, err


def thinking(stream: Stream) -> Iterator[PlayResponse]:
    """Ask a decision that the bot does not answer."""
    yield scripted.welcome()
    yield scripted.started()
    yield scripted.decision(17)
    stream.expect_nothing_more()


def test_the_random_bot_is_under_fifteen_lines() -> None:
    assert len(RANDOM.read_text().splitlines()) < 15


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_plays_a_match(referee: ScriptedReferee, example: str) -> None:
    referee.scripts.append(scripted.one_match)
    status, out, err = finish(start(example, referee))
    assert (status, out) == (0, "")
    assert err == ("m1: rank 1, 0 prestige\n" if "def ended" in example else "")


def test_the_example_reads_a_transcript(referee: ScriptedReferee, tmp_path: Path) -> None:
    referee.scripts.append(scripted.one_match)
    bot = EXAMPLES[0].replace("asara.run(", f"asara.run(transcript={str(tmp_path)!r}, bot=", 1)
    assert finish(start(bot, referee))[0] == 0
    [file] = tmp_path.glob("*.transcript")
    reader = TRANSCRIPT_READER.replace("r1-basic-0001-seat0.transcript", str(file))
    status, out, err = finish(start(reader))
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "match_started"
    assert out.splitlines()[-1] == "match_ended"


def test_without_an_environment_a_bot_says_what_to_do() -> None:
    status, out, err = finish(start(RANDOM))
    assert (status, out) == (2, "")
    assert err == (
        "asara: ASARA_ADDRESS and ASARA_TOKEN are not set: start this bot with `asara match`, "
        "or set ASARA_ADDRESS (host:port or unix:/path) and ASARA_TOKEN\n"
    )


def test_a_refusal_is_one_line(referee: ScriptedReferee) -> None:
    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        stream.refuse(grpc.StatusCode.UNAUTHENTICATED, "unknown-token", "no bot has this token")

    referee.scripts.append(script)
    status, out, err = finish(start(RANDOM, referee))
    assert (status, out) == (1, "")
    assert err == (
        f"asara: the referee at {referee.address} refused this bot (unknown-token): "
        "no bot has this token; set ASARA_TOKEN to what `asara match` printed last, "
        "or what the organiser gave you\n"
    )


def test_an_exception_in_decide_shows_the_authors_traceback(
    referee: ScriptedReferee, tmp_path: Path
) -> None:
    program = tmp_path / "faulty.py"
    program.write_text(
        "import asara\ndef decide(decision, match):\n    return 1 / 0\nasara.run(decide)\n"
    )
    referee.scripts.append(thinking)
    status, _, err = finish(start(program, referee))
    assert status == 1
    assert err.startswith("Traceback")
    assert f'File "{program}", line 3, in decide\n    return 1 / 0' in err
    assert err.endswith("ZeroDivisionError: division by zero\nin m1, decision 17 (space)\n")
    assert err.count('File "') == 1, err  # neither the client's frames nor the call of `run`


def test_an_exception_inside_a_library_keeps_the_way_there(
    referee: ScriptedReferee, tmp_path: Path
) -> None:
    program = tmp_path / "faulty.py"
    program.write_text(
        "import asara, json\ndef decide(decision, match):\n    json.loads('?')\nasara.run(decide)\n"
    )
    referee.scripts.append(thinking)
    _, _, err = finish(start(program, referee))
    assert err.index(f'File "{program}", line 3, in decide') < err.index("json/decoder.py")


def test_sys_exit_during_a_match_is_told_with_its_line(
    referee: ScriptedReferee, tmp_path: Path
) -> None:
    program = tmp_path / "quitter.py"
    program.write_text(
        "import asara\ndef decide(decision, match):\n    exit(0)\nasara.run(decide)\n"
    )
    referee.scripts.append(thinking)
    status, _, err = finish(start(program, referee))
    assert status == 0
    assert err.startswith(f"asara: {program}, line 3: sys.exit ended the bot in the middle of m1")
    assert err.count("\n") == 1


@pytest.mark.long
@pytest.mark.parametrize(
    "doing",
    [
        "while True: pass",
        "signal.pause()",
        "sum(itertools.repeat(1))",  # in C, where no other thread of Python runs
    ],
)
def test_a_bot_that_hangs_reports_its_line_when_its_time_is_over(
    referee: ScriptedReferee, tmp_path: Path, doing: str
) -> None:
    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        begun = scripted.started()
        begun.match_started.clocks.bank_us = 700_000
        yield begun
        for number in (1, 2):
            asked = scripted.decision(number)
            asked.decision.clock_us = 700_000
            yield asked
            if number == 1:
                stream.reply()
        stream.expect_nothing_more()

    program = tmp_path / "slow.py"
    program.write_text(
        "import asara, itertools, signal\n"
        "def decide(decision, match):\n"
        "    if decision.decision_id == 2:\n"
        f"        {doing}\n"
        "    return decision.legal_actions[0]\n"
        "asara.run(decide)\n"
    )
    referee.scripts.append(script)
    process = start(program, referee)
    assert process.stderr
    printed = ""
    last = f'File "{program}", line 4' if "itertools" in doing else doing
    while last not in printed:
        line = process.stderr.readline()
        assert line, printed
        printed += line
    process.kill()
    _, _, err = finish(process)
    err = printed + err
    assert f'File "{program}", line 4' in err
    if "itertools" not in doing:
        assert err == (
            "asara: decision 2 of m1 has taken its whole time, 0.7 s, and is still here:\n"
            f'  File "{program}", line 4, in decide\n    {doing}\n'
        )


class CountedWatchdog(watchdog.Watchdog):
    """Counts its looks, for the clients of other tests may have some of their own."""

    looks = 0

    def _pause_s(self) -> float:
        self.looks += 1
        return super()._pause_s()


@pytest.mark.parametrize("answered", [False, True])
def test_only_a_bot_that_still_thinks_is_reported_when_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, answered: bool
) -> None:
    now_s = 0.0
    monkeypatch.setattr(watchdog, "time", SimpleNamespace(monotonic=lambda: now_s))
    watching = CountedWatchdog()
    watching.begin("decision 2 of m1", 2_000_000)
    if answered:
        watching.end()
    now_s = 2.1  # while the opponent thinks
    looks = watching.looks
    wait_until("two looks", lambda: watching.looks >= looks + 2)
    watching.close()
    assert caplog.text.count("decision 2 of m1 has taken its whole time, 2.0 s,") == (not answered)
    assert len(caplog.records) == (not answered)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)]
)
@pytest.mark.parametrize("doing", ["while True: signal.pause()", "while True: pass"])
def test_a_signal_ends_a_bot_quietly(
    referee: ScriptedReferee, number: signal.Signals, status: int, doing: str
) -> None:
    program = (
        "import asara, signal\n"
        "def decide(decision, match):\n"
        "    print('thinking', flush=True)\n"
        f"    {doing}\n"
        "asara.run(decide)\n"
    )
    referee.scripts.append(thinking)
    process = start(program, referee)
    assert process.stdout
    assert process.stdout.readline() == "thinking\n"
    process.send_signal(number)
    assert finish(process) == (status, "", "")


@pytest.mark.parametrize("after_ms", others_long(range(0, 30, 3), 3))
def test_an_interrupt_in_the_middle_of_a_match_ends_a_bot_quietly(
    referee: ScriptedReferee, after_ms: int
) -> None:
    """Most of these arrive while the stream's own code runs, or gRPC's."""

    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started()
        interrupt = threading.Timer(after_ms / 1000, process.send_signal, [signal.SIGINT])
        interrupt.start()
        with suppress(grpc.RpcError, StopIteration):  # until the bot has left
            for decision in range(1, 10_000):
                yield scripted.decision(decision)
                stream.reply()
        interrupt.join()

    referee.scripts.append(script)
    process = start(RANDOM, referee)
    status, _, printed = finish(process)
    assert (status, printed) == (130, ""), printed


def test_an_interrupt_that_the_author_catches_ends_nothing(referee: ScriptedReferee) -> None:
    program = (
        "import asara, os, signal\n"
        "def decide(decision, match):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        signal.pause()\n"
        "    except KeyboardInterrupt:\n"
        "        return decision.legal_actions[0]\n"
        "asara.run(decide)\n"
    )
    referee.scripts.append(scripted.one_match)
    assert finish(start(program, referee)) == (0, "", "")


def test_a_handler_that_the_author_sets_in_a_match_stays(referee: ScriptedReferee) -> None:
    program = (
        "import asara, signal\n"
        "def decide(decision, match):\n"
        "    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "    return decision.legal_actions[0]\n"
        "asara.run(decide)\n"
        "print(signal.getsignal(signal.SIGINT).name)\n"
    )
    referee.scripts.append(scripted.one_match)
    assert finish(start(program, referee)) == (0, "SIG_IGN\n", "")


def test_a_signal_ends_a_waiting_bot(referee: ScriptedReferee) -> None:
    def script(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        yield scripted.started()
        yield scripted.decision(1)
        stream.reply()
        process.send_signal(signal.SIGINT)
        stream.expect_nothing_more()

    referee.scripts.append(script)
    process = start(RANDOM, referee)
    assert finish(process) == (130, "", "")


def test_a_process_of_multiprocessing_does_not_play_and_says_why(tmp_path: Path) -> None:
    program = tmp_path / "my_bot.py"
    program.write_text(
        "import multiprocessing\n"
        "import asara\n"
        "if __name__ == '__main__':\n"
        "    child = multiprocessing.get_context('spawn').Process(target=print)\n"
        "    child.start()\n"
        "    child.join()\n"
        "else:\n"
        "    asara.run(lambda decision, match: None)\n"
    )
    _, _, err = finish(start(program))
    assert err == (
        f"asara: {program}, line 8: multiprocessing runs this file again in each of its "
        'processes; write `if __name__ == "__main__":` before asara.run\n'
    )


@pytest.mark.parametrize(("first", "timer"), [("sys", "set"), ("multiprocessing.spawn", "")])
def test_a_process_of_multiprocessing_sets_no_timer_for_its_stack(first: str, timer: str) -> None:
    program = (
        f"import faulthandler, {first}\n"
        "faulthandler.dump_traceback_later = lambda *_, **__: print('set')\n"
        "from asara import program_end\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        env={**os.environ, "ASARA_TOKEN": "token"},
        capture_output=True,
        text=True,
        timeout=EVENT_S,
        check=True,
    )
    assert done.stdout.strip() == timer


def test_warnings_reach_standard_error_even_if_the_program_logs_to_a_file(
    referee: ScriptedReferee, tmp_path: Path
) -> None:
    program = (
        f"import logging; logging.basicConfig(filename={str(tmp_path / 'log')!r})\n"
        "import sys, asara\n"
        "asara.run(lambda decision, match: sys.exit())\n"
    )
    referee.scripts.append(thinking)
    _, _, err = finish(start(program, referee))
    assert "sys.exit ended the bot in the middle of " in err
    assert (tmp_path / "log").read_text().endswith(err)


def test_a_second_run_after_the_goodbye_is_named(referee: ScriptedReferee, tmp_path: Path) -> None:
    def refuse(stream: Stream) -> Iterator[PlayResponse]:
        stream.refuse(grpc.StatusCode.UNAUTHENTICATED, "unknown-token", "no bot has this token")

    program = tmp_path / "my_bot.py"
    program.write_text("import asara\n" + 2 * "asara.run(lambda decision, match: 0)\n")
    referee.scripts += [lambda stream: iter([scripted.welcome(), scripted.goodbye()]), refuse]
    _, _, err = finish(start(program, referee))
    assert err == (
        f"asara: {program}, line 3: asara.run was called again after the referee's goodbye; "
        "remove this call\n"
    )
