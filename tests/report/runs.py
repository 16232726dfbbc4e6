"""Run directories to make reports of, and pages taken apart."""

import random
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

from asara_game.rules import RULE_COMBINATIONS
from asara_server.replay import Replay, SigningKey, replay_of, write_replay
from asara_server.results import Termination
from asara_server.tournament.directory import RunInfo
from asara_server.tournament.results import MatchResult, SeatLine
from tests.server.playouts import random_match, random_spec, rules_for

SECRET = bytes(range(32))
INFO = RunInfo(
    asara="0.1.0",
    title="Spring cup",
    entries=("ann", "bob", "cid", "dan"),
    scheduled=96,
    seed="the seed",
    seed_drawn=True,
    deals="committed",
    blocks="mirrored",
    deal_commitment=sha256(SECRET).hexdigest(),
    tournament_secret=SECRET.hex(),
    edition="some edition",
    edition_sha256="ed" * 32,
    started="2026-01-01T10:00:00+00:00",
    ended="2026-01-01T11:00:00+00:00",
    state="finished",
)
RUNNING = {"state": "running", "ended": None, "tournament_secret": None}
KEY = SigningKey.new()


def seat(entry: str, rank: int, crash: str = "") -> SeatLine:
    termination = Termination.CRASH if crash else Termination.COMPLETED
    return SeatLine(
        entry=entry, rank=rank, prestige=100 // rank, termination=termination, detail=crash
    )


def match(name: str, *seats: SeatLine, block: str = "", rules: str = "basic") -> MatchResult:
    return MatchResult(
        match_id=name,
        block=block,
        round=1,
        rule_sets=rules,
        seats=seats,
        started="2026-01-01T10:00:00+00:00",
        seconds=1.0,
    )


def mirrored(entries: Sequence[str] = INFO.entries, rounds: int = 8) -> list[MatchResult]:
    """Mirrored blocks of each pair, in two sets of rules; the last entry crashes in one match."""
    dice = random.Random(1)
    found = []
    for number in range(rounds):
        rules = ("basic", "pro+gifts")[number % 2]
        for place, pair in enumerate(combinations(entries, 2)):
            block = f"r{number + 1}-{rules}-{place + 1:04}"
            for turn in (1, 2):
                crash = "exit code 1" if (number, pair[1], turn) == (0, entries[-1], 2) else ""
                ranks = (1, 2) if crash else dice.choice(((1, 2), (1, 2), (2, 1), (1, 1)))
                seats = [seat(pair[0], ranks[0]), seat(pair[1], ranks[1], crash)]
                seats = seats[:: 1 if turn == 1 else -1]
                found.append(match(f"{block}-{turn}", *seats, block=block, rules=rules))
    return found


def write_run(folder: Path, results: Iterable[MatchResult] = (), **changes: object) -> Path:
    """A run with these results; `changes` are fields of its run.json."""
    (folder / "replays").mkdir(parents=True)
    (folder / "run.json").write_text(INFO.model_copy(update=changes).model_dump_json())
    lines = (result.model_dump_json() + "\n" for result in results)
    (folder / "results.jsonl").write_text("".join(lines))
    (folder / "referee.pub").write_bytes(KEY.public_pem)
    return folder


def played(name: str, seed: int = 1) -> tuple[Replay, MatchResult]:
    """A match that was really refereed, of "bot 0" and "bot 1"."""
    dice = random.Random(seed)
    spec = random_spec(rules_for(RULE_COMBINATIONS[0], 2), dice, name)
    replay = replay_of(random_match(spec, dice, quiet=True))
    seats = [
        SeatLine(
            entry=result.entry,
            rank=result.rank,
            prestige=result.prestige,
            termination=result.termination,
        )
        for result in replay.results
    ]
    return replay, match(name, *seats)


def run_with_replays(folder: Path, number: int, **changes: object) -> tuple[Path, list[Replay]]:
    """A run of so many matches that were really refereed, with their replays."""
    games = [played(f"r1-basic-{place + 1:04}", place) for place in range(number)]
    setting = {"entries": ("bot 0", "bot 1"), "scheduled": number} | changes
    write_run(folder, (result for _, result in games), **setting)
    for replay, result in games:
        write_replay(folder / "replays" / f"{result.match_id}.asara", replay, KEY)
    return folder, [replay for replay, _ in games]


_VOID = {"meta", "input", "br", "link", "img"}


class Page(HTMLParser):
    """A page: its text, its tables by section, its links and elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.elements: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.shown: dict[str, str] = {}
        self.problems: list[str] = []
        self._open: list[str] = []
        self._section = ""
        self._cell = False
        self.feed(html)
        self.close()
        for table in (table for tables in self.tables.values() for table in tables):
            table[:] = [[re.sub(r"\s+", " ", cell).strip() for cell in row] for row in table]
        if self._open:
            self.problems.append(f"never closed: {self._open}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "section":
            self._section = dict(attrs)["id"] or ""
            self.tables[self._section] = []
        elif tag == "table":
            self.tables[self._section].append([])
        elif tag == "tr":
            self.tables[self._section][-1].append([])
        if self._cell and tag in {"td", "th", "tr"}:
            self._end_cell()
        if tag in {"td", "th"} and "picture" not in (dict(attrs).get("class") or ""):
            self.tables[self._section][-1][-1].append("")
            self._cell = True
        if tag not in _VOID | {"td"}:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th", "tr"}:
            self._end_cell()
        if tag == "td":
            return
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"{self.getpos()}: </{tag}> closes nothing")

    def _end_cell(self) -> None:
        self._cell = False

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "style":
            return
        self.text += data
        self.shown[self._section] = self.shown.get(self._section, "") + data
        if self._cell:
            row = self.tables[self._section][-1][-1]
            row[-1] += data

    def body(self, section: str, table: int = 0) -> list[list[str]]:
        """The rows of a table, with a head of one row left out."""
        return self.tables[section][table][1:]

    def values(self, name: str) -> list[str]:
        """What the attributes of this name say."""
        return [value for _, attribute, value in self.attributes if attribute == name]
