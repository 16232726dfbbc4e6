"""Matches for tests of the page: replays, their views, and the public view after every moment.

In `replay_views`, for each match:

- `NAME.asara`: the replay, played by built-in bots
- `NAME.view.gz`: its open ReplayView, serialized
- `NAME.public.json`: by moment, the first 8 bytes of SHA-256 of the PublicView after its events, as
  protobuf writes it, in hexadecimal. Two answers change the view without an event, the choice of a
  buyer through a gift card and the return of a lit window; the view is the one after these.
- `NAME.viewers.json`: by viewer, the SHA-256 of its ReplayView
- `richest-4.public.gz`: for one of them, the PublicViews themselves, each preceded by its length

`python -m tests.vectors.regenerate` makes the views from the replays. `python -m
tests.vectors.viewed_matches` plays new matches first, with other moves and times.
"""

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from asara_codec.view_writer import public_bytes
from asara_codec.wire_format import delimited
from asara_game.view import public_view
from asara_server.journal.replay import Replay
from asara_server.journal.resimulate import resimulated
from asara_server.match.match import Match
from asara_server.replay.file import read_replay
from asara_server.replay.replay_view import EVERYBODY, OPEN, replay_view, seat_viewer

FOLDER = Path(__file__).parent / "replay_views"
RICHEST = "richest-4"
MATCHES = {
    "basic-2": ("basic", ["greedy", "random"]),
    "basic-gifts-3": ("basic+gifts", ["random", "greedy", "greedy"]),
    "pro-4": ("pro", ["greedy", "random", "greedy", "greedy"]),
    "pro-gifts-2": ("pro+gifts", ["greedy", "greedy"]),
    "pro-genie-3": ("pro+genie", ["random", "random", "greedy"]),
    "forfeit-3": ("pro+gifts+genie", ["greedy", "quitter", "random"]),
    RICHEST: ("pro+gifts+genie", ["greedy", "greedy", "random", "greedy"]),
}
"""By name, the rule sets and the bots."""
_QUITTER = """
import sys
import asara

def decide(decision, match):
    number, actions = decision.decision_id, len(decision.legal_actions)
    print(f"decision {number}: {actions} actions", file=sys.stderr)
    if decision.decision_id == 25:
        raise SystemExit("I give up")
    return match.random_action(decision)

asara.run(decide, bot_name="quitter")
"""


def replays() -> Iterator[tuple[str, Replay]]:
    for path in sorted(FOLDER.glob("*.asara")):
        yield path.stem, read_replay(path)


def open_view(replay: Replay) -> bytes:
    return replay_view(replay, OPEN).SerializeToString(deterministic=True)


def public_views(replay: Replay) -> list[bytes]:
    """The PublicViews after the moments of the open view, serialized."""
    views: dict[int, bytes] = {}
    playing: list[Match] = []

    def at_rest() -> None:
        feed = playing[0].feed
        views[feed.turn_ends[-1]] = public_bytes(feed.public)

    for match, record in resimulated(replay, at_rest=at_rest):
        if record is None:
            playing.append(match)
        if match.feed.turn_ends[-1] < len(match.feed.events):
            views[len(match.feed.events)] = public_bytes(public_view(match.state))
        else:
            at_rest()
    return [views[moment.sequence] for moment in replay_view(replay, OPEN).moments]


def public_digests(replay: Replay) -> list[str]:
    return [sha256(data).hexdigest()[:16] for data in public_views(replay)]


def viewer_digests(replay: Replay) -> dict[str, str]:
    """By viewer other than the open one, the SHA-256 of its ReplayView."""
    digests = {}
    for viewer in (EVERYBODY, *map(seat_viewer, range(len(replay.header.entries)))):
        data = replay_view(replay, viewer).SerializeToString(deterministic=True)
        digests[str(viewer)] = sha256(data).hexdigest()
    return digests


def stored_view(name: str) -> bytes:
    return gzip.decompress((FOLDER / f"{name}.view.gz").read_bytes())


def write_views() -> None:
    for name, replay in replays():
        digests = public_digests(replay)
        (FOLDER / f"{name}.view.gz").write_bytes(gzip.compress(open_view(replay), 9, mtime=0))
        (FOLDER / f"{name}.public.json").write_text(json.dumps(digests, indent=0) + "\n")
        viewers = json.dumps(viewer_digests(replay), indent=0)
        (FOLDER / f"{name}.viewers.json").write_text(viewers + "\n")
        if name == RICHEST:
            data = b"".join(map(delimited, public_views(replay)))
            (FOLDER / f"{name}.public.gz").write_bytes(gzip.compress(data, 9, mtime=0))


def play() -> None:
    """Play all matches again, with the bots of this checkout."""
    FOLDER.mkdir(exist_ok=True)
    for name, (rules, bots) in MATCHES.items():
        with tempfile.TemporaryDirectory() as folder:
            quitter = Path(folder, "quitter.py")
            quitter.write_text(_QUITTER)
            named = [str(quitter) if bot == "quitter" else bot for bot in bots]
            run = Path(folder, "run")
            command = [sys.executable, "-m", "asara_server.cli", "match", *named]
            options = ["--rules", rules, "--sandbox", "none", "--out", str(run)]
            subprocess.run([*command, *options, "--seed", name], check=True)
            (replay,) = run.glob("replays/*.asara")
            (FOLDER / f"{name}.asara").write_bytes(replay.read_bytes())


if __name__ == "__main__":
    play()
    write_views()
