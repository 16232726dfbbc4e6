"""Plays random legal actions; the smallest possible bot."""

import asara


def decide(decision: asara.Decision, match: asara.Match) -> asara.Action:
    return match.random_action(decision)


if __name__ == "__main__":
    asara.run(decide, bot_name="random", max_matches=16)
