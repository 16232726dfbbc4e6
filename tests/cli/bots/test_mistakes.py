"""The mistakes of a first hour, as data.

`match` shows one message with the fault, its file and line, and so does `check` for a mistake that
costs no match. `tests/contract/client` has the mistakes that the client alone explains.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.command import asara, refusal
from tests.sizes import others_long
from tests.tournament.sandbox_config import sandbox_or_skip

RUN = "\nasara.run(decide)\n"
CLASS = (
    "import asara\n\nclass Mine(asara.Bot):\n    def decide(self, decision):"
    " return decision.legal_actions[0]\n"
)
RUN_CLASS = "\nasara.run(Mine)\n"
DECIDE = "import asara\n\ndef decide(decision, match):\n"
RANDOM = "    return match.random.choice(decision.legal_actions)\n"


@dataclass(frozen=True)
class Mistake:
    program: str
    line: int
    """Line of the program that the message names; 0 if the fault is in no line."""
    says: str
    """The message about the mistake, as a regular expression."""
    remedy: str = ""
    """What to do about it, as a regular expression; "" if the message does not tell."""
    forfeits: bool = True
    """False if it costs no match that `asara match` plays; `check` calls the bot broken then."""
    works: bool = False
    """True if even `check` only shows it."""
    file: str = "my_bot.py"
    """File that the message names."""


MISTAKES = {
    "syntax-error": Mistake(
        "import asara\n\ndef decide(decision, match)\n" + RANDOM + RUN,
        3,
        "SyntaxError: expected ':'",
    ),
    "exception": Mistake(
        DECIDE + "    return decision.legal_actions[1000]\n" + RUN,
        4,
        "IndexError: list index out of range",
    ),
    "endless-loop": Mistake(
        DECIDE + "    while True:\n        pass\n" + RUN,
        4,
        "has taken its whole time, .* and is still here",
    ),
    "illegal-answer": Mistake(
        DECIDE + "    return asara.Action(build_count=asara.BuildCount(count=99))\n" + RUN,
        4,
        "'build 99' is not among the legal actions",
        "return one of decision.legal_actions as it is",
    ),
    "missing-import": Mistake(
        "import nunpy as np\n" + DECIDE + RANDOM + RUN,
        1,
        "No module named 'nunpy'",
        "the module nunpy is missing: put it into the bot's folder",
    ),
    "no-run": Mistake(DECIDE + RANDOM, 0, "call the client's run function", file="my_bot"),
    # Seen only after a match, or by a process that goes on to the next one.
    "exception-in-ended": Mistake(
        CLASS + "    def ended(self, result):\n        print(result.ranks)\n" + RUN_CLASS,
        6,
        r"AttributeError: ranks|in ended\(\) of",
        forfeits=False,
    ),
    "exit-status": Mistake(
        DECIDE + RANDOM + RUN + "raise SystemExit(3)\n",
        0,
        "exited with status 3 after its last match",
        file="my_bot",
        forfeits=False,
    ),
    "thread-that-stays": Mistake(
        "import threading\n"
        + DECIDE
        + RANDOM
        + "\ndef think():\n    threading.Event().wait()\n\nthreading.Thread(target=think).start()\n"
        + RUN,
        8,
        "was still running 10 s after its last match",
        forfeits=False,
    ),
    "file-in-its-folder": Mistake(
        DECIDE + "    open('log.txt', 'a').write('thinking')\n" + RANDOM + RUN,
        0,
        "log.txt will be deleted with the bot's process",
        "print what you want to keep",
        forfeits=False,
        works=True,
        file="log.txt",
    ),
    "network": Mistake(
        "import urllib.request\n"
        + DECIDE
        + "    urllib.request.urlopen('http://example.org')\n"
        + RANDOM
        + RUN,
        5,
        "URLError|gaierror",
        "the sandbox has no network",
    ),
    # Programs that end, or do not begin.
    "native-crash": Mistake(
        "import ctypes\n" + DECIDE + "    ctypes.string_at(0)\n" + RANDOM + RUN,
        5,
        "killed by SIGSEGV",
    ),
    "name-is-main": Mistake(
        DECIDE + RANDOM + "\nif __name__ == 'main':\n    asara.run(decide)\n",
        6,
        "is never true",
        r'write `if __name__ == "__main__":`',
    ),
    "main-not-called": Mistake(
        DECIDE + RANDOM + "\ndef main():\n    asara.run(decide)\n",
        7,
        r"nothing calls main\(\)",
        r"add the line `main\(\)` at the end",
    ),
}


HANGING = {"endless-loop"}
"""Mistakes that are found when a clock has run out."""

STATE = (
    "import asara\n\nmatches = set()\n\ndef decide(decision, match):\n"
    "    matches.add(match.match_id)\n"
    "    if len(matches) > 1:\n        raise RuntimeError('two matches')\n" + RANDOM + RUN
)
"""Carries state from match to match, which one match cannot show."""


def expect(mistake: Mistake, shown: str) -> None:
    """The fault with its place, and the remedy if there is one."""
    assert mistake.file in shown
    if mistake.line:
        assert re.search(rf'my_bot\.py"?, line {mistake.line}\b', shown), shown
    assert re.search(mistake.says, shown), shown
    assert re.search(mistake.remedy, shown), shown
    assert "clients/python/asara" not in shown  # the author's code, not ours


@pytest.mark.parametrize(
    "name", others_long([name for name, one in MISTAKES.items() if not one.forfeits], 3)
)
def test_the_check_of_a_mistake_names_file_and_line(name: str, tmp_path: Path) -> None:
    sandbox_or_skip()
    mistake = MISTAKES[name]
    (tmp_path / "my_bot.py").write_text(mistake.program)
    done = asara("check", "my_bot.py", "--sandbox", "bubblewrap", cwd=tmp_path)
    assert done.returncode == (0 if mistake.works else 1), done
    assert ("my_bot is broken: " in done.stdout) != mistake.works
    expect(mistake, done.stdout)


def test_state_that_stays_from_match_to_match_is_found(tmp_path: Path) -> None:
    sandbox_or_skip()
    (tmp_path / "my_bot.py").write_text(STATE)
    done = asara("check", "my_bot.py", "--sandbox", "bubblewrap", cwd=tmp_path, status=1)
    assert "crash: exited with status 1 (in its second match, but not in its first" in done.stdout
    assert 'my_bot.py", line 8, in decide' in done.stdout


@pytest.mark.parametrize("name", others_long(MISTAKES, 3))
def test_a_mistake_ends_in_one_message_with_file_and_line(name: str, tmp_path: Path) -> None:
    sandbox_or_skip()
    mistake = MISTAKES[name]
    (tmp_path / "my_bot.py").write_text(mistake.program)
    clock = ("--clock", "0.5") if name in HANGING else ()
    words = ("match", "my_bot.py", "random", "--sandbox", "bubblewrap", *clock)
    done = asara(*words, cwd=tmp_path, status=0)
    shown = done.stderr
    assert shown.count("my_bot forfeits match r1-basic-0001") == mistake.forfeits
    expect(mistake, shown)
    assert len(shown.splitlines()) < 18


@pytest.mark.long
def test_what_bots_print_is_shown_with_the_names_of_their_entries(tmp_path: Path) -> None:
    sandbox_or_skip()
    say = "    print('\\x1b[31mthink\\x1b[0ming', decision.decision_id, '\\x07' + 'x' * 3_000)\n"
    (tmp_path / "my_bot.py").write_text(DECIDE + say + RANDOM + RUN)
    done = asara(
        "match", "my_bot.py", "random", "-v", "--sandbox", "bubblewrap", cwd=tmp_path, status=0
    )
    first = done.stderr.splitlines()[0]
    assert first.startswith("my_bot | thinking 1  xxx")
    assert len(first) < 600
    assert "\x1b" not in done.stderr
    assert "\x07" not in done.stderr
    assert "forfeits" not in done.stderr
    quiet = asara("match", "my_bot.py", "random", "--sandbox", "bubblewrap", cwd=tmp_path)
    assert "thinking" not in quiet.stderr  # a slow machine adds a line of progress


@pytest.mark.long
def test_transcripts_are_written_without_the_sandbox_and_refused_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox_or_skip()
    asks = DECIDE + RANDOM + "\nasara.run(decide, transcript='here')\n"
    (tmp_path / "my_bot.py").write_text(asks)
    words = ("match", "my_bot.py", "random", "--sandbox")
    shown = asara(*words, "bubblewrap", cwd=tmp_path).stderr
    assert "asara: a transcript is asked for, but the sandbox" in shown
    assert "--sandbox none" in shown
    monkeypatch.setenv("ASARA_TRANSCRIPT", "transcripts")
    assert "ASARA_TRANSCRIPT is set, but in the sandbox" in refusal(
        *words, "bubblewrap", cwd=tmp_path
    )
    assert asara(*words, "none", cwd=tmp_path).returncode == 0
    expected = {"r1-basic-0001-seat1.digest", "r1-basic-0001-seat1.transcript"}
    assert {path.name for path in (tmp_path / "transcripts").iterdir()} == expected
    assert len(list((tmp_path / "here").iterdir())) == 2


def test_no_bot_receives_what_another_one_printed(tmp_path: Path) -> None:
    """The reason of a forfeit reaches the other bots without the output that explains it."""
    (tmp_path / "my_bot.py").write_text(DECIDE + "    raise ValueError('my hand')\n" + RUN)
    (tmp_path / "nosy.py").write_text(
        "import asara\n\nclass Nosy(asara.Bot):\n    def decide(self, decision):\n"
        "        return decision.legal_actions[0]\n\n"
        "    def ended(self, result):\n        print(result)\n\nasara.run(Nosy)\n"
    )
    done = asara("match", "my_bot.py", "nosy.py", "--out", "run", cwd=tmp_path)
    assert "ValueError: my hand" in done.stderr
    seen = (tmp_path / "run/logs/r1-basic-0001/1-nosy.log").read_text()
    assert "exited with status 1" in seen
    assert "my hand" not in seen
    assert (
        "my hand"
        not in subprocess.run(
            ["strings", tmp_path / "run/replays/r1-basic-0001.asara"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
