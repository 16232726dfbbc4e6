"""Rewrite the vectors of this folder: `python -m tests.vectors.regenerate` in the checkout.

The inputs in a vector, such as a seed, are kept; what follows from them is computed again. To add a
vector, add its inputs to the JSON file.

Review the changes before you commit them: they change the meaning of every deal and every replay,
and every other implementation of the rules.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from asara.random_choice import random_index
from asara.text import format_action
from asara.v1.vocabulary_pb2 import Action
from asara.verifier import make_nonce
from asara_codec.encode import action_message
from asara_game.actions import parse_action
from asara_game.deal import Deal
from asara_server.match import deal_secrets
from tests.codec.every_action import ACTIONS
from tests.game import naive_deal, perft
from tests.vectors import viewed_matches

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


def rewrite(name: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Compute again what follows from the inputs in a file."""
    path = FOLDER / name
    value = json.loads(path.read_text())
    change(value)
    write(path, value)


def actions(value: dict[str, Any]) -> None:
    """Every kind of action, as text and as message."""
    value["actions"] = [
        {"text": str(action), "hex": action_message(action).SerializeToString().hex()}
        for action in ACTIONS
    ]
    for row in value["unparsable"]:
        row["text"] = format_action(Action.FromString(bytes.fromhex(row["hex"])))
    value["invalid"] = list(filter(_is_refused, value["invalid"]))


def _is_refused(text: str) -> bool:
    """Return True if the referee's own parser refuses a text."""
    try:
        parse_action(text)
    except ValueError:
        return True
    return False


def random_actions(value: dict[str, Any]) -> None:
    """The indices that the rule of the random starters chooses."""
    for row in value["choices"]:
        inputs = ("seed", "match_id", "seat", "decision_id", "count")
        row["index"] = random_index(*map(row.__getitem__, inputs))


def joint_deals(value: dict[str, Any]) -> None:
    """The way from a seed to the order of a shuffle, and nonces that follow from a seed."""
    for row in value["deals"]:
        tournament = deal_secrets.tournament_secret(row["seed"])
        secret = deal_secrets.secret_of(tournament, row["match_id"], row["shared_deal"])
        shared = deal_secrets.deal_secret(secret, list(map(bytes.fromhex, row["nonces"])))
        order = list(range(20))
        Deal(shared).shuffle("buyers/0", order)
        row["tournament_secret"] = tournament.hex()
        row["tournament_commitment"] = deal_secrets.commitment(tournament).hex()
        row["match_secret"] = secret.hex()
        row["deal_commitment"] = deal_secrets.commitment(secret).hex()
        row["deal_secret"] = shared.hex()
        row["buyers_0_of_20"] = order
    for row in value["seeded_nonces"]:
        row["nonce"] = make_nonce(row["seed"], row["match_id"], row["seat"]).hex()


def digests(value: dict[str, Any]) -> None:
    """The digest after each message to a seat in a joint match."""
    digest = bytes(32)
    for row in value["messages"]:
        digest = sha256(digest + bytes.fromhex(row["message"])).digest()
        row["digest"] = digest.hex()


if __name__ == "__main__":
    write(FOLDER / "deal.json", naive_deal.vectors())
    write(FOLDER / "perft.json", perft.vectors())
    rewrite("joint_deal.json", joint_deals)
    rewrite("digest.json", digests)
    rewrite("actions.json", actions)
    rewrite("random_action.json", random_actions)
    viewed_matches.write_views()
