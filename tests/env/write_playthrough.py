"""The playthrough file, as OpenSpiel's own generator writes it.

`python -m tests.env.write_playthrough` regenerates it; run it after an intended change.
"""

import gzip
from pathlib import Path
from typing import Final

import asara_env.openspiel  # noqa: F401 - registers the game

FILE: Final = Path(__file__).with_name("playthrough.txt.gz")


def main() -> None:
    from open_spiel.python.algorithms import generate_playthrough

    game = "asara(rules=pro+gifts+genie,players=3)"
    text = generate_playthrough.playthrough(game, [], seed=1)
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
