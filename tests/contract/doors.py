"""The doors of ASARA for tests that know nothing of what lies behind them."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("asara")
LONGEST_S = 300
"""Seconds after which any command is killed."""


STEADY = """
import os, random, time
import asara
PAUSE_S = float(os.environ.get("PAUSE_S", "0"))
def decide(decision, match):
    time.sleep(PAUSE_S)
    dice = random.Random(repr((match.match_id, match.seat, decision.decision_id)))
    return dice.choice(decision.legal_actions)
asara.run(decide)
"""
"""A bot whose choice depends on the decision only; it can pause before each."""

EXITS = """
import sys
print("loading", flush=True)
sys.exit("cannot load model.bin")
"""

SEED = "622a494d3ea8c7ba2fed4f37909f14d9b50ab412322de39be62c8d6c2418bfca"

HEADER = f'title = "Cup"\nseats = 2\nrules = "basic"\nseed = "{SEED}"\n'


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of a user with a terminal of 80 columns and none of our variables."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("GRPC_", "ASARA_"))}
    sandbox = os.environ.get("ASARA_SANDBOX", "none")
    return {**kept, "COLUMNS": "80", "NO_COLOR": "1", "ASARA_SANDBOX": sandbox, **changes}


def asara(
    *words: object, cwd: Path | None = None, status: int = 0, **changes: str
) -> subprocess.CompletedProcess[str]:
    """Run a command that must end with this status."""
    done = subprocess.run(
        [PROGRAM, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        cwd=cwd,
        env=environment(**changes),
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert not re.search("^Traceback", done.stderr + done.stdout, re.MULTILINE), done.stderr
    return done


def refusal(*words: object, cwd: Path | None = None) -> str:
    """Run a command that must end with status 2 and print nothing but its error."""
    done = asara(*words, cwd=cwd, status=2)
    assert done.stdout == ""
    return done.stderr


@contextmanager
def running(*words: object, **changes: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a command that goes on; it is told to end, and killed if it does not."""
    process = subprocess.Popen(
        [PROGRAM, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**changes),
    )
    killer = threading.Timer(LONGEST_S, process.kill)
    killer.start()
    try:
        with process:  # closes its pipes
            yield process
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
    finally:
        killer.cancel()
        process.kill()
        process.wait()


@contextmanager
def web(*words: object) -> Iterator[str]:
    """Yield the address of `asara web`, such as `http://127.0.0.1:8080`."""
    with running("web", *words, "--listen", "127.0.0.1:0") as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.fullmatch(r"Showing matches at (http://127\.0\.0\.1:\d+)/\n", line)
        assert found, line
        yield found[1]


def write_tournament(folder: Path, bots: Mapping[str, str], header: str = HEADER) -> Path:
    """Write a tournament file, and these programs beside it."""
    for name, code in bots.items():
        (folder / f"{name}.py").write_text(code)
        header += f'\n[[entries]]\nname = "{name}"\ncommand = "python {name}.py"\n'
    path = folder / "cup.toml"
    path.write_text(header)
    return path
