"""Commands without what macOS and Windows lack, hidden from them on this system (see `lacking`).

This shows what is imported and called, and not that these systems do what is asked of them.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.cli.bots.test_guests import expecting
from tests.cli.command import asara_process, environment, started
from tests.events import EVENT_S
from tests.sizes import others_long

LACKING = Path(__file__).parent / "lacking"
SYSTEMS = others_long(("windows", "macos"), 2)


def lacking(system: str) -> dict[str, str]:
    """Return the variables that hide what a system lacks."""
    return {"PYTHONPATH": str(LACKING), "LACKING_SYSTEM": system}


def asara(system: str, *words: str | Path, status: int = 0) -> str:
    """Run a command on such a system; return what it prints."""
    done = asara_process(*words, env=environment(**lacking(system)))
    assert done.returncode == status, done
    return done.stdout + done.stderr


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def bot(system: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new bot, whose program lacks the same."""
    folder = tmp_path_factory.mktemp(system) / "my-bot"
    asara(system, "new", "python", folder)
    variables = ", ".join(
        f"{name} = {json.dumps(value)}" for name, value in lacking(system).items()
    )
    with (folder / "bot.toml").open("a", encoding="utf-8") as file:
        file.write(f"environment = {{ {variables} }}\n")
    return folder


@pytest.fixture(scope="module")
def played(system: str, bot: Path) -> Path:
    """The run directory of a match."""
    run = bot.parent / "run"
    asara(system, "match", bot, "random", "--sandbox", "none", "--seed", "7", "--out", run)
    return run


def test_a_match_is_audited_shown_and_asked_again(system: str, bot: Path, played: Path) -> None:
    replay = played / "replays" / "r1-basic-0001.asara"
    assert "1 passed, 0 failed" in asara(system, "audit", played)
    assert "Result" in asara(system, "replay", "show", replay)
    answer = asara(system, "replay", "ask", replay, "3", bot, "--sandbox", "none")
    assert "The replies are the same" in answer


@pytest.mark.long
def test_check_says_that_the_bot_works(system: str, bot: Path) -> None:
    assert "my-bot works." in asara(system, "check", bot, "--sandbox", "none")


@pytest.mark.long
def test_a_tournament_is_played_by_workers(system: str, bot: Path) -> None:
    file = bot.parent / "cup.toml"
    file.write_text(
        'title = "Cup"\nseats = [2]\nrules = ["basic"]\n'
        '[[entries]]\ndirectory = "my-bot"\n'
        '[[entries]]\nname = "other"\ndirectory = "my-bot"\n',
        encoding="utf-8",
    )
    words = ("--sandbox", "none", "--workers", "1")
    printed = asara(system, "tournament", "run", file, "--out", bot.parent / "cup", *words)
    assert "Cup: 2 matches" in printed


@contextmanager
def serving(system: str, *words: str | Path) -> Iterator[str]:
    """Run a command that serves a page until the end of the context; yield its address."""
    with started(*words, env=environment(**lacking(system))) as process:
        lines = process.stdout if words[0] == "play" else process.stderr
        assert lines is not None
        for line in lines:
            if found := re.search(r"http://[^/\s]+", line):
                yield found[0]
                return
        pytest.fail("it ended")


def test_web_serves_the_page(system: str, played: Path) -> None:
    with serving(system, "web", played, "--listen", "127.0.0.1:0") as address:
        assert httpx2.get(address).status_code == 200


@pytest.mark.long
def test_play_opens_a_table(system: str, bot: Path) -> None:
    words = ["--sandbox", "none", "--listen", "127.0.0.1:0", "--no-browser"]
    with serving(system, "play", bot, *words) as address:
        assert httpx2.get(f"{address}/play").status_code == 200


@pytest.mark.long
def test_a_guest_plays(system: str, bot: Path) -> None:
    env = environment(**lacking(system))
    words = ("random", "guest", "--sandbox", "none")
    with expecting(*words, env=env) as (process, (variables,)):
        by_hand = [sys.executable, str(bot / "main.py")]
        done = subprocess.run(by_hand, env=env | variables, timeout=EVENT_S, check=False)
        stdout, _ = process.communicate(timeout=EVENT_S)
    assert "guest" in stdout
    assert (process.returncode, done.returncode) == (0, 0)


def test_without_a_sandbox_one_sentence_says_so(system: str, bot: Path) -> None:
    printed = asara(system, "match", bot, "random", "--sandbox", "bubblewrap", status=2)
    assert printed.startswith("asara: --sandbox bubblewrap: there is none on this system")
    assert "WSL2" in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize("words", [["conformance", "my-bot"], ["bridge", "cat"]])
def test_what_needs_unix_names_wsl2_on_windows(words: list[str]) -> None:
    assert "needs Linux or macOS (on Windows: WSL2)" in asara("windows", *words, status=2)
