"""Rewrite the vectors of this folder: `python -m tests.vectors.regenerate` in the checkout.

Review the changes before you commit them: they change the meaning of every deal and every replay,
and every other implementation of the rules.
"""

import json
from pathlib import Path
from typing import Any

from tests.game import naive_deal, perft
from tests.vectors import actions, trust, viewed_matches

FOLDER = Path(__file__).parent


def write(path: Path, value: dict[str, Any]) -> None:
    """One line per item of every list at the top."""
    parts = []
    for key, item in value.items():
        if isinstance(item, list):
            rows = ",\n".join(f"    {json.dumps(row)}" for row in item)
            parts.append(f"  {json.dumps(key)}: [\n{rows}\n  ]")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(item)}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    write(FOLDER / "deal.json", naive_deal.vectors())
    write(FOLDER / "perft.json", perft.vectors())
    write(FOLDER / "joint_deal.json", trust.joint_deals())
    write(FOLDER / "digest.json", trust.digests())
    write(FOLDER / "actions.json", actions.actions())
    write(FOLDER / "random_action.json", actions.random_actions())
    viewed_matches.write_views()
