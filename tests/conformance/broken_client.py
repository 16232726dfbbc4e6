"""The built-in random bot, broken.

broken_client.py CASE             in the one way that fails this case
broken_client.py --all-but CASE   in every other way that leaves this case alone
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import asara
from tests.conformance.breakages import BREAKAGES


def decide(decision: asara.Decision, match: asara.Match) -> asara.Action:
    return match.random_action(decision)


def break_client(case: str, *, all_but: bool) -> None:
    for name, breakage in BREAKAGES.items():
        concerns = name == case or (all_but and case in breakage.also)
        if concerns is not all_but:
            breakage.apply()


if __name__ == "__main__":
    *options, case = sys.argv[1:]
    break_client(case, all_but="--all-but" in options)
    asara.run(decide, bot_name="broken", max_matches=16)
