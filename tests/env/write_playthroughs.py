"""The playthrough files, as OpenSpiel's own generator writes them.

`python -m tests.env.write_playthroughs` regenerates them; run it after an intended change.
"""

import gzip
from pathlib import Path
from typing import Final

import asara_env.openspiel  # noqa: F401 - registers the game

FOLDER: Final = Path(__file__).parent / "playthroughs"
GAMES: Final = {
    "basic-2": "asara",
    "everything-3": "asara(rules=pro+gifts+genie,players=3)",
}
_SEED: Final = 1


def main() -> None:
    """Write all files."""
    from open_spiel.python.algorithms import generate_playthrough

    for name, game in GAMES.items():
        text = generate_playthrough.playthrough(game, [], seed=_SEED)
        path = FOLDER / f"{name}.txt.gz"
        path.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
