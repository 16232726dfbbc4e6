"""Play matches of greedy against itself and write a few of their moments for the gallery.

    python clients/web/gallery/samples.py > clients/web/gallery/samples.json
"""

import base64
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from asara.v1.play_pb2 import PlayResponse
from asara_codec.editions import edition_message, rule_set_numbers
from asara_codec.encode import event_message
from asara_codec.messages import decision_bytes
from asara_codec.view_writer import ViewWriter
from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, legal_actions, new_match
from asara_game.rules import Rules, parse_rule_sets
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import DecisionKind

ROOT = Path(__file__).parents[3]
NAMES = ("greedy", "search", "go-random", "a bot with quite a long name of its own")
Played = tuple[State, dict[str, Any], dict[str, Any]]


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def greedy() -> Callable[[Any, Any], Any]:
    spec = importlib.util.spec_from_file_location("greedy", ROOT / "bots/greedy/main.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.decide


def asked(state: State) -> Any:
    data = decision_bytes(
        match_id="m", decision_id=1, view=view(state, state.seat), events=b"", sequence=1,
        clock_us=1, charged_us=1,
    )  # fmt: skip
    return PlayResponse.FromString(data).decision


def moment(state: State, events: list[Any], index: int) -> dict[str, Any]:
    seats = range(state.rules.seats)
    views = [ViewWriter().view(view(state, seat)) for seat in seats]
    choices = asked(state) if state.seat >= 0 else None
    return {
        "index": index,
        "events": [text(event_message(event).SerializeToString()) for event in events],
        "views": [text(data) for data in views],
        "seat": state.seat,
        "legal": [text(a.SerializeToString()) for a in choices.legal_actions] if choices else [],
    }


def play(rules: Rules, secret: bytes) -> Iterator[Played]:
    decide = greedy()
    state, events = new_match(rules, Deal(secret))
    index, last = 0, moment(state, events, 0)
    yield state, last, last
    while state.seat >= 0:
        decision = asked(state)
        match = SimpleNamespace(edition=edition_message(rules), seat=state.seat)
        action = decide(decision, match)
        chosen = legal_actions(state)[list(decision.legal_actions).index(action)]
        events = apply(state, chosen)
        index += 1
        now = moment(state, events, index)
        yield state, last, now
        last = now


def sample(
    name: str, played: list[Played], at: int, viewer: str, rules: Rules
) -> dict[str, Any]:
    _, last, now = played[at]
    return {
        "name": name,
        "viewer": viewer,
        "entries": NAMES[: rules.seats],
        "ruleSets": list(rule_set_numbers(rules)),
        "edition": text(edition_message(rules).SerializeToString()),
        "previous": last,
        "moment": now,
    }


def all_moments(words: str, seats: int, secret: bytes) -> tuple[Rules, list[Played], list[Any]]:
    rules = Rules(load_edition(), parse_rule_sets(words), seats)
    played, facts = [], []
    for state, last, now in play(rules, secret):
        played.append((state, last, now))
        facts.append((state.year, state.seat, state.kind))
    return rules, played, facts


def main() -> None:
    samples = []
    rules, played, facts = all_moments("pro+gifts+genie", 4, b"b" * 32)

    def find(wanted: Callable[[int, int, int], bool], after: int = 0) -> int:
        return next((i for i, f in enumerate(facts) if i > after and wanted(*f)), len(facts) // 2)

    year3 = [i for i, fact in enumerate(facts) if fact[0] == 3 and fact[2] == DecisionKind.SPACE]
    middle = year3[len(year3) // 2]
    building = find(lambda year, seat, kind: kind == DecisionKind.BUILD, middle)
    spying = find(lambda year, seat, kind: kind == DecisionKind.PILE_SECTION)
    keeping = find(lambda year, seat, kind: kind == DecisionKind.LIT_KEEP)
    buyers = find(lambda year, seat, kind: kind == DecisionKind.BUYERS, middle)
    buying = find(lambda year, seat, kind: kind == DecisionKind.SECTION, middle)
    for name, at, viewer in (
        ("opening", 1, "everybody"),
        ("middle", middle, "everybody"),
        ("middle-open", middle, "open"),
        ("building", building, f"seat-{facts[building][1]}"),
        ("buying", buying, f"seat-{facts[buying][1]}"),
        ("laying", buyers, f"seat-{facts[buyers][1]}"),
        ("spying-seat", spying, f"seat-{facts[spying][1]}"),
        ("spying-everybody", spying, "everybody"),
        ("keeping", keeping, f"seat-{facts[keeping][1]}"),
        ("choosing", middle, f"seat-{facts[middle][1]}"),
        ("final", len(played) - 1, "open"),
    ):
        samples.append(sample(name, played, at, viewer, rules))
    for words, seats in (("basic", 2), ("basic+gifts", 3), ("pro", 2), ("pro+genie", 3)):
        rules, played, facts = all_moments(words, seats, b"c" * 32)
        samples.append(sample(f"{words} {seats}", played, len(played) * 5 // 8, "seat-0", rules))
    json.dump(samples, sys.stdout)


main()
