"""Rewrite the data of this folder: `python -m tests.golden.regenerate` in the checkout.

Review the changes as a diff: the players of these matches would notice them.
"""

from pathlib import Path

from tests.golden import random_moves
from tests.golden.transcript import SCRIPTS, lines
from tests.vectors.regenerate import write

FOLDER = Path(__file__).parent


if __name__ == "__main__":
    for script in SCRIPTS:
        path = FOLDER / f"{script.name}.txt"
        path.write_text("".join(f"{line}\n" for line in lines(script)))
        print(f"{path.name}: {path.stat().st_size} bytes")
    write(FOLDER / "random_moves.json", random_moves.golden())
