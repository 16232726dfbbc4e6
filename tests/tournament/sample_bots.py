"""Programs of bots, good and bad, and tournaments to enter them in."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from asara_server.tournament.config.tournament_file import ConfigError, Tournament, load_tournament

GOOD = """
import asara
asara.run(lambda decision, match: match.random.choice(decision.legal_actions))
"""

EXITS = """
import sys
print("loading", flush=True)
sys.exit("cannot load model.bin")
"""


MUTE = """
import signal
import asara
asara.run(lambda decision, match: signal.pause())
"""

NONSENSE = """
import asara
class Bot(asara.Bot):
    def decide(self, decision):
        return asara.Action(build_count=asara.BuildCount(count=99))
    def rejected(self, decision, rejection):
        return asara.Action()
asara.run(Bot)
"""

CRASHES = """
import os, sys
import asara
def decide(decision, match):
    if decision.decision_id == 5:
        print("no more memory", file=sys.stderr, flush=True)
        os._exit(3)
    return decision.legal_actions[0]
asara.run(decide)
"""

STEADY = """
import os, random, time
import asara
PAUSE_S = float(os.environ.get("PAUSE_S", "0"))
HELD = os.environ.get("HELD")
def decide(decision, match):
    time.sleep(PAUSE_S)
    if HELD and decision.decision_id == 6:
        print("sixth decision", flush=True)
        while match.match_id.startswith(HELD) and not os.path.exists(os.environ["GATE"]):
            time.sleep(0.02)
    dice = random.Random(repr((match.match_id, match.seat, decision.decision_id)))
    return dice.choice(decision.legal_actions)
asara.run(decide)
"""
"""A bot whose choice depends on the decision only.

It can pause before each. With HELD, it says which is its sixth in a match, and in the matches whose
names begin so it does not make that before the file GATE exists.
"""

SEED = "622a494d3ea8c7ba2fed4f37909f14d9b50ab412322de39be62c8d6c2418bfca"

HEADER = f"""
title = "Cup"
seats = 2
rules = "basic"
blocks = "independent"
seed = "{SEED}"
"""


def write_tournament(
    folder: Path, bots: Mapping[str, str], header: str = HEADER, tables: str = ""
) -> Path:
    """Write a tournament file, and these programs beside it."""
    text = header + tables
    for name, code in bots.items():
        (folder / f"{name}.py").write_text(code)
        text += f'\n[[entries]]\nname = "{name}"\ncommand = "python {name}.py"\n'
    path = folder / "cup.toml"
    path.write_text(text)
    return path


def entry_table(name: str, command: str = "python main.py", **more: str) -> str:
    """Return the table of an entry in a folder with its name; `more` as a file writes it."""
    lines = [f'name = "{name}"', f'directory = "{name}"', f'command = "{command}"']
    lines += [f"{key} = {value}" for key, value in more.items()]
    return "\n".join(["\n[[entries]]", *lines, ""])


def load_text(folder: Path, text: str) -> Tournament:
    """Load a tournament from a file with this text in the folder."""
    path = folder / "cup.toml"
    path.write_text(text)
    return load_tournament(path)


def refusal_of(folder: Path, text: str) -> str:
    """Return the error for this text of a tournament file, with the folder replaced by DIR."""
    with pytest.raises(ConfigError) as caught:
        load_text(folder, text)
    return str(caught.value).replace(str(folder), "DIR")
