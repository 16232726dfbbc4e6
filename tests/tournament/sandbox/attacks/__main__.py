"""A hostile program: `python -m attacks NAME SECONDS` attacks the referee for so long.

It plays as well, slowly, so that its match lasts; the attack runs in a child process.
"""

import os
import sys
import time

from . import doors, machine  # noqa: F401 - they add their attacks
from .catalogue import ATTACKS, Attack
from .wire import Target, target_from_environment

_PAUSE_S = 0.1
"""Seconds that the playing half thinks about each decision."""


def main() -> None:
    """Run the attack that the arguments name."""
    from . import streams  # noqa: F401 - needs the client

    chosen = ATTACKS[sys.argv[1]]
    target = target_from_environment(float(sys.argv[2]))
    if chosen.plays:
        chosen.run(target)
    elif os.fork() == 0:
        _attack(chosen, target)
    else:
        _play(target)


def _attack(chosen: Attack, target: Target) -> None:
    try:
        chosen.run(target)
    finally:
        sys.stdout.flush()
        os._exit(0)


def _play(target: Target) -> None:
    """Play the first legal actions, slowly while the attack lasts."""
    import asara  # after the fork, which gRPC does not survive

    def decide(decision: asara.Decision, _match: asara.Match) -> asara.Action:
        if target.left_s > 0:
            time.sleep(_PAUSE_S)
        return decision.legal_actions[0]

    asara.run(decide)


if __name__ == "__main__":
    main()
