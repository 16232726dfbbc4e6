"""Run directories to make reports of, and pages taken apart."""

import random
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

from asara_game.rules import RULE_COMBINATIONS
from asara_server.eventlog.replay import Replay, replay_of
from asara_server.replay.file import write_replay
from asara_server.replay.signing import SigningKey
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome
from tests.match.playouts import random_match, random_spec, rules_for
from tests.tournament import samples
from tests.tournament.samples import match

KEY = SigningKey.new()


def write_run(folder: Path, results: Iterable[MatchResult] = (), **changes: object) -> Path:
    """A run with these results and no replays yet; `changes` are fields of its run.json."""
    samples.write_run(folder, results, **changes)
    (folder / "referee.pub").write_bytes(KEY.public_pem)
    return folder


def played(name: str, seed: int = 1) -> tuple[Replay, MatchResult]:
    """A match that was really refereed, of "bot 0" and "bot 1"."""
    dice = random.Random(seed)
    spec = random_spec(rules_for(RULE_COMBINATIONS[0], 2), dice, name)
    replay = replay_of(random_match(spec, dice, quiet=True))
    seats = [
        SeatOutcome(
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
