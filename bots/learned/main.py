"""Plays by a trained network that corrects the estimates of greedy's rules of thumb.

    python main.py [--weights FILE] [--temperature T]

`--weights` is a file written by `scripts/train`, to use instead of the package's own weights. With
`--temperature 1`, actions are drawn with the network's probabilities, using `match.random`. Lower
temperatures favour the most probable actions. At 0, the default, the bot takes the most probable
action, uses no random numbers and has no memory. The bot needs NumPy, which the extras `referee`
and `env` install.
"""

import argparse
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path

import asara
from asara.installing import install_command
from asara_codec.editions import rules_from_proto
from asara_codec.view_reader import view_from_proto
from asara_game import Rules, View, determinize
from asara_search.evaluation import weights_of_network
from asara_search.policies import GreedyPolicy

try:
    from asara_env.policy_network import (
        Advice,
        DamagedWeights,
        Network,
        load_network,
        shipped_network,
    )
except ImportError as error:
    sys.exit(f"learned: {error}; {install_command('env')} installs what the bot needs")


def chosen(advice: Advice, temperature: float, rng: random.Random) -> int:
    """Return the index of an action: the most probable one at temperature 0, else a random one."""
    if not temperature:
        return int(advice.probabilities.argmax())
    # Divided by the largest, so that it does not vanish at low temperatures.
    shares = advice.probabilities / advice.probabilities.max()
    weights = [float(share) ** (1 / temperature) for share in shares]
    return rng.choices(range(len(weights)), weights)[0]


class Player:
    """The network, together with the estimates that it corrects."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._weights = weights_of_network(network.estimates)
        self._rules: Rules | None = None
        self._greedy: GreedyPolicy | None = None

    def advise(self, seen: View) -> Advice:
        """Return the network's assessment of a decision."""
        if self._greedy is None or seen.rules is not self._rules:
            self._rules = seen.rules
            self._greedy = GreedyPolicy(seen.rules, self._weights)
        # The estimates follow from what the seat may know, and are the same in any such state.
        state = determinize(seen, random.Random(0))
        return self._network.advise(seen, self._greedy.worths(state))


def player(weights: Path | None = None, temperature: float = 0.0) -> Callable[..., asara.Action]:
    """Return the function that decides. Raise DamagedWeights, or OSError for a missing file."""
    bot = Player(load_network(weights) if weights else shipped_network())

    def decide(decision: asara.Decision, match: asara.Match) -> asara.Action:
        seen = view_from_proto(rules_from_proto(match.started), decision)
        index = chosen(bot.advise(seen), temperature, match.random)
        return decision.legal_actions[index]

    return decide


def _temperature(text: str) -> float:
    number = float(text)
    if not (math.isfinite(number) and 0 <= number <= 100):
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to 100")
    return number


def main() -> None:
    parser = argparse.ArgumentParser("learned", description="Plays by a trained network.")
    parser.add_argument("--weights", type=Path, help="a file that scripts/train wrote")
    parser.add_argument("--temperature", type=_temperature, default=0.0, help="0: most probable")
    options = parser.parse_args()
    try:
        decide = player(options.weights, options.temperature)
    except DamagedWeights as error:
        parser.error(f"--weights: {error}")
    except OSError as error:
        hint = "; give the whole path, since a bot runs in its own folder"
        relative = not Path(error.filename).is_absolute()
        parser.error(f"--weights: {error.filename}: {error.strerror}{hint if relative else ''}")
    asara.run(decide, bot_name="learned", max_matches=16)


if __name__ == "__main__":
    main()
