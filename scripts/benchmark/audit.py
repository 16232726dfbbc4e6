"""The rate at which replays are audited, and their size.

The replays come from matches of four random players, made by the referee's own `Match` without
streams. The audit is measured in processor time of one core, and compared with the rules engine
alone playing the same actions.
"""

import random
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from asara_codec.clocks import Clocks
from asara_codec.encode import action_message
from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, new_match
from asara_game.rules import Rules, parse_rule_sets
from asara_server.event_loop import seldom_collect
from asara_server.journal.record_codec import RecordCodec, Results
from asara_server.journal.replay import Replay, ReplayHeader
from asara_server.match.inputs import Presence, ReplyRecord
from asara_server.match.match import Match
from asara_server.match.spec import MatchLimits, MatchSpec, Player
from asara_server.replay.audit import audit as audit_file
from asara_server.replay.file import file_content, parse_replay, signed_records
from asara_server.replay.signing import SigningKey
from scripts.benchmark.figures import Bar, Figure, compare

_T = TypeVar("_T")
_SEATS = 4
_BAR_BYTES = 8 * 1024


def audit(quick: bool) -> list[Figure]:
    """Measure how many four-player replays one core audits per second."""
    seldom_collect()  # as the command does
    key = SigningKey.new()
    files = _files("basic", 20 if quick else 60, key)
    replays = [parse_replay(file) for file in files]
    rounds = []
    for number in range(3 if quick else 7):
        ours = _rate(lambda data: audit_file(data, key.public), files)
        alone = _rate(_play, replays)
        if number:  # the first round fills caches
            rounds.append((ours, alone))
    peer = "rules engine alone"
    return [compare("audit", rounds, unit="replays/s", peer=peer, bar=Bar(0.25))]


def replay_size(quick: bool) -> list[Figure]:
    """Measure the mean size of a four-player replay, with the fewest and the most rules."""
    key = SigningKey.new()
    figures = []
    for name in ("basic", "pro+gifts+genie"):
        files = _files(name, 20 if quick else 60, key)
        mean = sum(map(len, files)) / len(files)
        bar = Bar(1, most=True)
        rounds = [(mean, float(_BAR_BYTES))]
        figures.append(compare(f"replay_{name}", rounds, unit="bytes", peer="the bar", bar=bar))
    return figures


def _rate(work: Callable[[_T], object], items: Sequence[_T]) -> float:
    """Return items per second of processor time."""
    began = time.process_time()
    for item in items:
        work(item)
    return len(items) / (time.process_time() - began)


def _play(replay: Replay) -> None:
    state, _ = new_match(replay.header.rules(), Deal(replay.header.deal_secret))
    for record in replay.records:
        if isinstance(record, ReplyRecord):
            for action in record.actions:
                apply(state, action)


def _files(rule_sets: str, number: int, key: SigningKey) -> list[bytes]:
    rules = Rules(load_edition(), parse_rule_sets(rule_sets), _SEATS)
    names = [f"r1-{rule_sets}-{seed:04}" for seed in range(number)]
    return [_file(rules, random.Random(name), name, key) for name in names]


def _file(rules: Rules, rng: random.Random, name: str, key: SigningKey) -> bytes:
    """Return the replay file of a match between bots that answer as quickly as real bots can."""
    players = tuple(Player(f"random-{seat}", f"token-{seat}") for seat in range(_SEATS))
    spec = MatchSpec(name, rules, players, Clocks(), rng.randbytes(32))
    limits = MatchLimits()
    match = Match(spec, limits)
    match.start({seat: Presence() for seat in range(_SEATS)}, {})
    now_us = 0
    while match.asked is not None:
        seat = match.asked
        now_us += rng.randrange(400, 1_500)
        action = action_message(rng.choice(match.state.legal))
        match.reply(seat, match.decision_id(seat), [action], now_us)
        match.record_reply(rng.randrange(60, 300))
        match.outbox.clear()
    header = ReplayHeader.of(spec, limits, 1_800_000_000_000)
    records = map(RecordCodec().encode, (header, *match.records, Results.of(match)))
    return file_content(signed_records(records, key))
