"""Run directories to make reports of, and pages taken apart."""

import json
import random
import re
import zlib
from base64 import b64decode
from collections.abc import Iterable
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from asara_game.rules import RULE_COMBINATIONS, RULES_VERSION
from asara_search.analysis import VERSION
from asara_server.journal.replay import Replay
from asara_server.match.inputs import ReplyRecord
from asara_server.replay.analysis_file import Analysis, Decision, SeatSum, Value, analysis_bytes
from asara_server.replay.file import read_replay
from asara_server.replay.match_page import PageFiles
from asara_server.replay.signing import SigningKey
from asara_server.report.model import Report, read_report
from asara_server.report.pages import report_page
from asara_server.tournament.run.read_run import read_run, run_standings
from asara_server.tournament.run.status import StatusReader
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome
from tests.match.playouts import random_match, random_spec, replay_bytes, rules_for
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
    replay = random_match(spec, dice, quiet=True)
    return replay, match(name, *map(SeatOutcome.of, spec.entries, replay.ends))


def run_with_replays(folder: Path, number: int, **changes: object) -> tuple[Path, list[Replay]]:
    """A run of so many matches that were really refereed, with their replays."""
    games = [played(f"r1-basic-{place + 1:04}", place) for place in range(number)]
    setting = {"entries": ("bot 0", "bot 1"), "scheduled": number} | changes
    write_run(folder, (result for _, result in games), **setting)
    for replay, result in games:
        (folder / "replays" / f"{result.match_id}.asara").write_bytes(replay_bytes(replay, KEY))
    return folder, [replay for replay, _ in games]


def decided(file: Path) -> Analysis:
    """Return an analysis of a match of two in which each seat made four mistakes."""
    replay = read_replay(file)
    chosen = next(str(r.actions[0]) for r in replay.records if isinstance(r, ReplyRecord))
    zero = Value(mean=0, error=0, worlds=0)
    sums: Any = {"score": 0.5, "score_after_luck": 0.5, "luck": zero}
    marks: Any = {"inaccuracies": 0, "mistakes": 4, "blunders": 0}
    place: Any = {"decision": 0, "step": 0, "year": 1, "kind": "SPACE", "label": "mistake"}
    actions: Any = {"chosen": chosen, "best": chosen, "forced": False}
    return Analysis(
        analyser=VERSION,
        rules_version=RULES_VERSION,
        edition_sha256=sha256(replay.header.edition).hexdigest(),
        replay_sha256=sha256(file.read_bytes()).hexdigest(),
        match_id=replay.header.match_id,
        budget="quick",
        playouts=0,
        seats=tuple(
            SeatSum(seat=seat, entry=entry, **sums, **marks)
            for seat, entry in enumerate(replay.header.entries)
        ),
        decisions=tuple(
            Decision(
                seat=seat,
                sequence=20 * number,
                loss=Value(mean=number / 10, error=0.01, worlds=9),
                **place,
                **actions,
            )
            for seat in range(2)
            for number in range(1, 5)
        ),
        draws=(),
        course=(),
    )


def write_analysis(run: Path, match_id: str) -> Path:
    """Write an analysis of a match of a run; return its path."""
    path = run / "analysis" / f"{match_id}.analysis.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(analysis_bytes(decided(run / "replays" / f"{match_id}.asara")))
    return path


def report_of(directory: Path, *, full: bool = True) -> Report:
    run = read_run(directory)
    standings = run_standings(run.info, run.results)
    return read_report(directory, run.info, run.results, standings, full=full)


def page_of(directory: Path) -> str:
    """The page of a run, with a script and a style that do nothing."""
    status = StatusReader(directory).read()
    files = PageFiles("/* script */", "/* style */")
    return report_page(report_of(directory), status, {}, files).decode()


def data_of(page: str) -> Any:
    """Return the data that a page contains for its script."""
    found = re.search(r'id="run">([^<]*)<', page)
    assert found
    return json.loads(zlib.decompress(b64decode(found[1])))


class Elements(HTMLParser):
    """A page as it is without scripts: its elements, links and texts, and rows of its tables."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, list[str]]] = []
        self.links: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, [name for name, _ in attrs]))
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        if tag != "meta":
            self._open.append(tag)
        if tag == "tr":
            list(self.tables.values())[-1].append([])
        if tag in {"td", "th"}:
            list(self.tables.values())[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"script", "style"} & set(self._open):
            return
        self.text += data
        if "h2" in self._open:
            self.tables[data.lower().replace(" ", "_")] = []
        if {"td", "th"} & set(self._open):
            list(self.tables.values())[-1][-1][-1] += data
