"""`asara conformance`: what it prints and writes, and bad input."""

import re
import shlex
import signal
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from asara_server.conformance.catalogue import all_cases, selected
from tests.cli.command import asara, signalled

ROOT = Path(__file__).resolve().parents[2]
RANDOM_BOT = ["python", str(ROOT / "bots/random/main.py")]
BROKEN = ["python", str(ROOT / "tests/conformance/broken_client.py")]


@pytest.mark.long
def test_a_failed_case_shows_what_was_expected_and_seen(tmp_path):
    junit = tmp_path / "results.xml"
    done = asara(
        *("conformance", "--case", "hello-*", "--junit", junit),
        *("--", *BROKEN, "hello-fields"),
        status=1,
    )
    assert done.stdout.startswith(
        "ok    hello-and-goodbye  status 0 as expected, 1 stream, 0 replies\n"
        "FAIL  hello-fields       expected the language in Hello"
    )
    assert "                         seen     none" in done.stdout
    assert re.search(r"^2 cases in .*: 1 passed, 1 failed$", done.stdout, re.MULTILINE)
    again = shlex.join(map(str, [*BROKEN, "hello-fields"]))
    assert f"Again: asara conformance --case hello-fields -- {again}" in done.stdout

    suite = ET.fromstring(junit.read_text())
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0")
    (failure,) = suite.findall("testcase/failure")
    assert failure.get("message") == "expected the language in Hello; seen: none"


@pytest.mark.long
def test_known_failures_are_permitted_and_must_fail(tmp_path):
    known = tmp_path / "known.txt"
    known.write_text("hello-fields  # no language yet\n")
    options = ["conformance", "--case", "hello-*", "--known-failing", str(known), "--"]
    done = asara(*options, *BROKEN, "hello-fields", status=0)
    assert "known hello-fields       expected the language in Hello" in done.stdout

    done = asara(*options, *RANDOM_BOT, status=1)
    assert "FAIL  hello-fields       passes, although it is listed as failing" in done.stdout
    assert "1 passed, 1 passed unexpectedly" in done.stdout


def test_all_cases_are_listed_without_a_program():
    done = asara("conformance", "--list", status=0)
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert [word for word in listed if not word.endswith(":")] == [c.name for c in all_cases()]
    assert [word for word in listed if word.endswith(":")] == ["protocol:", "client:", "kit:"]
    client = asara("conformance", "--list", "--level", "client")
    assert "patience-by-default" in client.stdout
    assert "published-rule" not in client.stdout


def test_a_failed_case_quotes_the_page_that_demands_it():
    done = asara("conformance", "--case", "published-rule", "--", *BROKEN, "published-rule")
    assert "proves   By the published rule, " in done.stdout
    assert "says     clients/behaviour.md: The starters choose by [one rule]" in done.stdout
    assert ", by the published rule\n" in done.stdout


def test_a_folder_is_tested_with_its_build_and_its_environment(tmp_path):
    folder = tmp_path / "my bot"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        'build = "cp source.py built.py"\n'
        'command = "python built.py"\n'
        '[environment]\nNAME = "mine"\n'
    )
    (folder / "source.py").write_text(
        "import os, runpy\n"
        "assert os.environ['NAME'] == 'mine'\n"
        "assert os.path.exists('bot.toml')\n"
        f"runpy.run_path({RANDOM_BOT[1]!r}, run_name='__main__')\n"
    )
    asara("conformance", "--case", "tcp-address", "my bot", cwd=tmp_path, status=0)
    asara("conformance", "--case", "tcp-address", "random", status=0)


@pytest.mark.long
def test_a_signal_kills_all_programs(tmp_path):
    pid = tmp_path / "pid"
    script = f"""
import os, pathlib, signal
path = pathlib.Path({str(pid)!r})
path.with_suffix(".new").write_text(str(os.getpid()))
path.with_suffix(".new").rename(path)
signal.pause()
"""
    words = ("conformance", "--", sys.executable, "-c", script)
    cases = len(selected(all_cases(), []))
    assert signalled(signal.SIGTERM, pid.exists, *words) == (
        128 + signal.SIGTERM,
        f"asara: stopped after 0 of {cases} cases\n",
    )
    assert not Path("/proc", pid.read_text()).exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "text"),
    [
        (
            "import sys; sys.exit('no module named asara')",
            "ended with status 1; it printed: no mod",
        ),
        ("import os; os.kill(os.getpid(), 9)", "ended with SIGKILL; its standard error was empty"),
        (
            "while True: print('x' * 100_000)",
            "printed more than 64 MiB, and was killed; its standard error was empty",
        ),
    ],
)
def test_a_program_that_is_no_bot_is_named_once(script, text):
    done = asara("conformance", "--", sys.executable, "-c", script, status=1)
    assert done.stdout == ""
    assert "no stream was opened at ASARA_ADDRESS" in done.stderr
    assert text in done.stderr
    assert done.stderr.count("\n") == 1
