"""The built-in random bot, broken in the one way that fails a case: broken_client.py CASE."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import asara
from tests.conformance.breakages import BREAKAGES


def decide(decision: asara.Decision, match: asara.Match) -> asara.Action:
    return match.random_action(decision)


if __name__ == "__main__":
    BREAKAGES[sys.argv[1]]()
    asara.run(decide, bot_name="broken", max_matches=16)
