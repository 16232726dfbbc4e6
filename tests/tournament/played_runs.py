"""Runs that are complete in a moment: a random playout takes the place of bots and streams.

Everything else is the real thing: runner, directory, journal, replays and signatures.
"""

import asyncio
import random
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from asara_codec.clocks import Clocks
from asara_game.edition import Edition, load_edition, parse_edition
from asara_game.rules import Rules
from asara_server.journal.journal import Fact, Journal
from asara_server.journal.replay import Replay
from asara_server.match.spec import MatchSpec, Player
from asara_server.replay.file import read_replay
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.tournament_file import load_tournament
from asara_server.tournament.execution.match_runner import ExecutionContext, Executor
from asara_server.tournament.run.directory import JOURNAL, RunDirectory
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.run.run_record import Document, json_bytes
from asara_server.tournament.runner import Runner, RunSetup
from asara_server.tournament.schedule.schedule import Attempt, ScheduledMatch, planned_matches
from asara_server.tournament.standings.match_result import (
    MatchResult,
    PlayedAttempt,
    SeatOutcome,
    utc_text,
)
from asara_server.tournament.standings.standings import compute_standings
from asara_server.tournament.trust.manifest import Manifest
from asara_server.tournament.trust.tree_head import TreeHead, root_text
from tests.match.playouts import random_match, replay_bytes, replay_records, rules_for
from tests.tournament.sample_bots import SEED, write_tournament

KEY = SigningKey.new()
OTHER_KEY = SigningKey.new()
HEADER = f"""
title = "Cup"
seats = 2
rules = "basic"
seed = "{SEED}"
rounds = 2
"""
OTHER_SEED = sha256(SEED.encode()).hexdigest()
REPLIES = 12
"""Replies in a match before all seats but the first forfeit."""
VOID = "the referee failed: KeyError"
WRITTEN_AGAIN = {"manifest", "tree_head"}


def replayed(spec: MatchSpec, loser: str = "") -> Replay:
    """The replay of a short match; without a `loser`, seat 0 wins."""
    dice = random.Random(spec.match_id)
    seats = [player.entry for player in spec.players]
    first = seats.index(loser) if loser in seats else None
    return random_match(spec, dice, replies=REPLIES, quiet=True, first=first)


def spec_of(attempt: Attempt, clocks: Clocks, secret: bytes, *, joint: bool) -> MatchSpec:
    match = attempt.match
    players = tuple(Player(name, f"token {name}", "run") for name in match.entries)
    return MatchSpec(
        attempt.name,
        rules_for(match.rule_sets, len(match.entries)),
        players,
        clocks,
        secret,
        nonces=tuple(bytes([seat + 1]) * 32 for seat in range(len(players))) if joint else (),
        shared_deal=match.shared_deal,
    )


def result_of(attempt: Attempt, replay: Replay | None) -> MatchResult:
    """The result of an attempt, which is void without a replay."""
    ends = () if replay is None else replay.ends
    return MatchResult.of(
        attempt,
        started=utc_text(1_600_000_000),
        seconds=3600.0,
        seats=tuple(map(SeatOutcome.of, attempt.match.entries, ends)),
        void_reason=VOID if replay is None else "",
    )


@dataclass
class PlayoutExecutor(Executor):
    """Plays random matches: the attempts in `void` fail, and it stops after `most` matches.

    The entry `loser` forfeits all its matches.
    """

    void: Sequence[str] = ()
    most: int = 1_000
    loser: str = ""

    name = "local"

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        left = self.most
        record = progress.directory.processes
        while leg := progress.next_leg(1) if progress.legs else progress.pending_attempts():
            bots: dict[str, str] = {}
            for attempt in leg[:left]:
                if not progress.begin_block(attempt.match.deal_block):
                    return
                for entry in attempt.match.entries:
                    if entry not in bots:
                        bots[entry] = f"{entry} {secrets.token_hex(4)}"
                        record.note("began", process=bots[entry], entry=entry)
                    record.note("plays", process=bots[entry], match=attempt.name)
                self._play(progress, context, attempt)
            for bot in bots.values():
                record.note("ended", process=bot)
            left -= len(leg)
            if left <= 0:
                return

    def _play(self, progress: RunProgress, context: ExecutionContext, attempt: Attempt) -> None:
        settings = context.match_settings
        secret = context.secret_of(attempt.name, attempt.match.shared_deal)
        replay = None
        if attempt.name not in self.void:
            spec = spec_of(attempt, settings.clocks, secret, joint=settings.joint_deals)
            replay = replayed(spec, self.loser)
        records = () if replay is None else replay_records(replay)
        progress.record_result(PlayedAttempt(result_of(attempt, replay), records))


def play_run(
    folder: Path,
    header: str = HEADER,
    *,
    names: Sequence[str] = ("ann", "bob", "cid"),
    key: SigningKey = KEY,
    void: Sequence[str] = (),
    most: int = 1_000,
    loser: str = "",
    enough: Callable[[int], bool] | None = None,
    resume: bool = False,
    run: str = "run",
) -> Path:
    """Play a tournament, or resume it; return the directory of the run."""
    folder.mkdir(exist_ok=True)
    if not resume:
        write_tournament(folder, dict.fromkeys(names, ""), header)
    tournament = load_tournament(folder / "cup.toml")
    path = folder / run
    over = 0

    def count(_: MatchResult) -> None:
        nonlocal over
        over += 1

    async def scenario() -> None:
        opened = RunDirectory.reopen(path) if resume else RunDirectory.create(path)
        with closing(opened) as directory:
            if not resume:
                directory.tournament_file.write_bytes((folder / "cup.toml").read_bytes())
            planned = planned_matches(tournament)
            executor = PlayoutExecutor(void, most, loser)
            setup = RunSetup(tournament, planned, directory, key, executor=executor)
            decided = None if enough is None else lambda: enough(over)
            runner = Runner(setup, finished=count, enough=decided)
            await runner.run()

    asyncio.run(scenario())
    return path


def facts_of(run: Path) -> list[Fact]:
    with Journal(run / JOURNAL) as journal:
        return journal.facts


def write_facts(run: Path, facts: Sequence[Fact], results: Iterable[MatchResult] = ()) -> None:
    """Write another journal, which contains these facts and results alone."""
    (run / JOURNAL).unlink()
    with Journal(run / JOURNAL) as journal:
        journal.note(*facts[:1])
        for result in results:
            journal.end(result.played_as, result.to_json())
        journal.note(*facts[1:])


class Forger:
    """Changes a run as its owner can: with the key that signed it."""

    def __init__(self, run: Path, key: SigningKey = KEY) -> None:
        self.run = run
        self.key = key
        log = read_run(run)
        self.manifest = Manifest.model_validate_json(log.record.documents["manifest"].content)
        self.head = TreeHead.model_validate_json(log.record.documents["tree_head"].content)
        self.group = log.info.group
        self.results = log.results
        self.schedule = self.manifest.planned_matches()

    def replay(self, name: str) -> Path:
        return self.run / "replays" / f"{name}.asara"

    def write_replay(self, name: str, replay: Replay, *, result: bool = True) -> None:
        """Put another replay in the place of one, and its result into the results."""
        self.replay(name).write_bytes(replay_bytes(replay, self.key))
        if result:
            seats = result_of(Attempt(self.schedule[0]), replay).seats
            self.results = [
                replace(one, seats=seats) if one.played_as == name else one for one in self.results
            ]

    def play_again(self, name: str, **changes: Any) -> None:
        """Play a match with another spec."""
        header = read_replay(self.replay(name)).header
        spec = header.spec()
        values = {field: getattr(spec, field) for field in spec.__slots__} | changes
        self.write_replay(name, replayed(MatchSpec(**values)))

    def edit_result(self, index: int, **changes: Any) -> None:
        self.results[index] = replace(self.results[index], **changes)

    def edit_seat(self, index: int, seat: int, **changes: Any) -> None:
        seats = list(self.results[index].seats)
        seats[seat] = replace(seats[seat], **changes)
        self.edit_result(index, seats=tuple(seats))

    def signed(self, name: str, document: Document) -> Fact:
        return document.signed(self.key).fact(name)

    def sign(self, **head: Any) -> None:
        """Write and sign everything again; `head` are fields of the tree head to change then."""
        for index, result in enumerate(self.results):
            path = self.replay(result.played_as)
            if not result.void and path.is_file():
                digest = sha256(path.read_bytes()).hexdigest()
                self.edit_result(index, replay_sha256=digest)
        with suppress(ValueError):  # no schedule follows from it
            self.schedule = self.manifest.planned_matches()
        manifest = self.signed("manifest.json", self.manifest)
        manifest_sha256 = sha256(self.manifest.content()).hexdigest()
        lines = "".join(f"{result.to_json()}\n" for result in self.results).encode()
        standings = compute_standings(
            self.manifest.title,
            self.manifest.entry_names,
            self.head.scheduled,
            self.results,
            group=self.group,
            remote=self.manifest.remote,
            looks=self.manifest.looks,
        )
        (self.run / "standings.json").write_bytes(json_bytes(standings))
        others = [fact for fact in facts_of(self.run) if fact.kind not in WRITTEN_AGAIN]
        write_facts(self.run, [manifest, *others], self.results)
        changes = {
            "manifest_sha256": manifest_sha256,
            "attempts": len(self.results),
            "played": standings.matches.played,
            "void": standings.matches.void,
            "root": root_text(self.results, self.schedule),
            "results_sha256": sha256(lines).hexdigest(),
            "standings_sha256": sha256(json_bytes(standings)).hexdigest(),
            "journal_sha256": sha256((self.run / JOURNAL).read_bytes()).hexdigest(),
        }
        self.head = self.head.model_copy(update=changes | head)
        with Journal(self.run / JOURNAL) as journal:
            journal.note(self.signed("tree_head.json", self.head))
        export(self.run)


def export(run: Path) -> None:
    """Write what is published from the journal of a run."""
    log = read_run(run)
    for name, content in log.record.files().items():
        (run / name).write_bytes(content)
    (run / "run.json").write_bytes(json_bytes(log.info))
    (run / "results.jsonl").write_text("".join(f"{result.to_json()}\n" for result in log.results))


def other_edition() -> Edition:
    """An edition with another text and the same numbers."""
    return parse_edition(load_edition().data + b"\n# another text\n")


def rules_of(edition: Edition, match: ScheduledMatch) -> Rules:
    return Rules(edition, match.rule_sets, len(match.entries))
