"""Plays the built-in bots against each other and writes the table of strength in bots/README.md."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from asara_game import RULE_COMBINATIONS, format_rule_sets
from asara_server.tournament.run.directory import has_run
from asara_server.tournament.run.read_run import read_run

ROOT: Final = Path(__file__).parent.parent.parent
MEASURED: Final = ROOT / "bots" / "strength.json"
PAGE: Final = ROOT / "bots" / "README.md"
_RUNS: Final = ROOT / "runs" / "strength"
_TABLE: Final = re.compile(r"(?<=<!-- strength -->\n).*?(?=<!-- end -->)", re.DOTALL)

_FILE: Final = """
title = "{title}"
seats = {seats}
rules = "{rule_sets}"
blocks = "mirrored"
rounds = {blocks}
jobs = {jobs}
{entries}
"""
_ENTRY: Final = """
[[entries]]
name = "{name}"
directory = {directory}
"""


@dataclass(frozen=True, slots=True)
class Contender:
    """A built-in bot, with its options."""

    name: str
    bot: str
    """The bot's folder in bots/."""
    options: tuple[str, ...] = ()
    """Options for the command of a bot in Python; other bots have theirs in bot.toml."""

    @property
    def folder(self) -> Path:
        return ROOT / "bots" / self.bot


@dataclass(frozen=True, slots=True)
class Pairing:
    """One bot at a table where another bot has all other seats."""

    one: Contender
    others: Contender


@dataclass(frozen=True, slots=True)
class Cell:
    """The measurements of one pairing. A score is the mean over blocks: 1 first, 0 last."""

    bot: str
    against: str
    rule_sets: str
    seats: int
    blocks: int
    score: float
    interval_95: tuple[float, float]
    forfeits: int
    """Number of matches that `bot` forfeited."""
    commit: str

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.bot, self.against, self.rule_sets, self.seats


RANDOM: Final = Contender("random", "random")
GREEDY: Final = Contender("greedy", "greedy")
LEARNED: Final = Contender("learned", "learned")
GO_SEARCH: Final = Contender("go-search, 100 playouts", "go-search")
SEARCH: Final = Contender("search, 100 ms", "search", ("--milliseconds", "100"))
PAIRINGS: Final = (
    Pairing(GREEDY, RANDOM),
    Pairing(LEARNED, GREEDY),
    Pairing(GO_SEARCH, GREEDY),
    Pairing(SEARCH, GREEDY),
)
"""In the order of the table: each bot against one that is weaker."""


# Playing


def play(pairing: Pairing, rule_sets: str, seats: int, options: argparse.Namespace) -> Cell:
    """Play mirrored blocks: in each deal, the bot plays every seat once."""
    for contender in (pairing.one, pairing.others):
        _fetch(contender)
    commit = _commit()
    name = _file_name(f"{pairing.one.name} {pairing.others.name} {rule_sets} {seats}")
    folder = _RUNS / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "tournament.toml"
    contenders = [("one", pairing.one)]
    contenders += [(f"other-{number}", pairing.others) for number in range(1, seats)]
    text = _FILE.format(
        title=f"{pairing.one.name} against {pairing.others.name}",
        seats=seats,
        rule_sets=rule_sets,
        blocks=options.blocks,
        jobs=options.jobs,
        entries="".join(_entry(*contender) for contender in contenders),
    )
    run = folder / "run"
    resumed = has_run(run) and file.exists() and file.read_text("utf-8") == text
    if not resumed:
        shutil.rmtree(run, ignore_errors=True)
        file.write_text(text, "utf-8")
    if not (resumed and read_run(run).info.state == "finished"):  # interrupted after its last match
        _asara(
            *("tournament", "run", str(file), "--out", str(run), "--sandbox", "none"),
            *(("--resume",) if resumed else ()),
        )
    standings = json.loads((run / "standings.json").read_text("utf-8"))
    own = next(entry for entry in standings["overall"] if entry["entry"] == "one")
    cell = Cell(
        pairing.one.name,
        pairing.others.name,
        rule_sets,
        seats,
        own["blocks"],
        own["score"],
        tuple(own["interval_95"]),
        sum(own["faults"].values()),
        commit,
    )
    if cell.forfeits:
        _keep(folder)
    else:
        shutil.rmtree(folder)
    return cell


def _keep(folder: Path) -> None:
    """Keep a run with forfeits, so that somebody can look into them."""
    kept = _RUNS / "with-forfeits" / folder.name
    shutil.rmtree(kept, ignore_errors=True)
    kept.parent.mkdir(exist_ok=True)
    folder.rename(kept)
    print(f"There were forfeits; replays and logs are kept: {kept / 'run'}")


def _entry(name: str, contender: Contender) -> str:
    text = _ENTRY.format(name=name, directory=json.dumps(str(contender.folder)))
    if (contender.folder / "main.py").exists():
        text += f"command = {json.dumps(['python', 'main.py', *contender.options])}\n"
    return text


def _fetch(contender: Contender) -> None:
    """Download the packages needed to build a bot, because a build has no network."""
    script = contender.folder / "fetch.sh"
    if script.exists() and subprocess.run([script], cwd=script.parent, check=False).returncode:
        raise SystemExit(f"scripts/strength: {script} failed; see above")


def _file_name(text: str) -> str:
    return re.sub(r"\W+", "-", text)


def _asara(*arguments: str) -> None:
    command = Path(sys.executable).with_name("asara")
    ended = subprocess.run([str(command), *arguments], check=False)
    if ended.returncode:
        raise SystemExit(f"scripts/strength: asara {' '.join(arguments)} ended with an error")


def _commit() -> str:
    """Return the checked-out commit, with a plus sign if files differ from it."""

    def git(*arguments: str) -> str:
        ended = subprocess.run(
            ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
        )
        return ended.stdout.strip()

    own = [f":!{path.relative_to(ROOT)}" for path in (MEASURED, PAGE)]
    changed = git("status", "--porcelain", "--", "bots", "server", "clients/python", *own)
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


# What was measured


def read_cells(path: Path = MEASURED) -> list[Cell]:
    if not path.exists():
        return []
    return [
        Cell(**{**cell, "interval_95": tuple(cell["interval_95"])})
        for cell in json.loads(path.read_text("utf-8"))
    ]


def write_cells(cells: Sequence[Cell], path: Path = MEASURED) -> None:
    """Write the measurements atomically, one per line."""
    lines = ",\n".join(json.dumps(asdict(cell)) for cell in cells)
    text = f"[\n{lines}\n]\n" if cells else "[]\n"
    new = path.with_suffix(".new")
    new.write_text(text, "utf-8")
    new.replace(path)


def with_cell(cells: Sequence[Cell], new: Cell) -> list[Cell]:
    """Return the measurements, with one replaced or added, in the order of the table."""
    return sorted([*(cell for cell in cells if cell.key != new.key), new], key=_place)


def _place(cell: Cell) -> tuple[int, int, int]:
    bots = [pairing.one.name for pairing in PAIRINGS]
    names = [format_rule_sets(rule_sets) for rule_sets in RULE_COMBINATIONS]
    return bots.index(cell.bot), names.index(cell.rule_sets), cell.seats


def table(cells: Sequence[Cell]) -> str:
    """Return the table as Markdown, with a row for each pairing and each differing rule set."""
    lines = [
        "| bot | against | rule sets | two seats | three | four | blocks |",
        "|---|---|---|---|---|---|---|",
    ]
    rows: dict[tuple[str, str, str], dict[int, Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.key[:3], {})[cell.seats] = cell
    alike: dict[tuple[str, str, str], list[str]] = {}
    for (bot, against, rule_sets), row in rows.items():
        scores = " | ".join(_score(row.get(seats)) for seats in (2, 3, 4))
        blocks = _joined([f"{cell.blocks}" for cell in row.values()])
        alike.setdefault((bot, against, f"{scores} | {blocks}"), []).append(rule_sets)
    for (bot, against, numbers), rule_sets_alike in alike.items():
        every = len(rule_sets_alike) == len(RULE_COMBINATIONS)
        names = "all" if every else ", ".join(f"`{name}`" for name in rule_sets_alike)
        lines.append(f"| {bot} | {against} | {names} | {numbers} |")
    return "\n".join(lines) + "\n"


def _score(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    low, high = cell.interval_95
    forfeits = f", {cell.forfeits} forfeit{'s'[: cell.forfeits > 1]}" if cell.forfeits else ""
    return f"{cell.score:.2f} ({low:.2f} to {high:.2f}{forfeits})"


def _joined(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def write_table(cells: Sequence[Cell], page: Path = PAGE) -> None:
    text = page.read_text("utf-8")
    if not _TABLE.search(text):
        raise SystemExit(f"scripts/strength: {page} has no place for the table: <!-- strength -->")
    page.write_text(_TABLE.sub(lambda _: table(cells), text), "utf-8")


# The command


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/strength", description="Measure how strong the built-in bots are."
    )
    every = [format_rule_sets(rule_sets) for rule_sets in RULE_COMBINATIONS]
    parser.add_argument("--rule-sets", nargs="+", choices=every, default=every, metavar="RULES")
    parser.add_argument("--seats", nargs="+", type=int, choices=(2, 3, 4), default=(2, 3, 4))
    parser.add_argument("--blocks", type=int, default=50, help="deals of each measurement (50)")
    bots = [pairing.one.bot for pairing in PAIRINGS]
    parser.add_argument("--bot", choices=bots, help="measure only this bot")
    parser.add_argument("--jobs", type=int, default=1, help="matches at once (1)")
    parser.add_argument("--again", action="store_true", help="also what was measured before")
    parser.add_argument("--table", action="store_true", help="play nothing")
    options = parser.parse_args(arguments)
    if options.blocks < 1 or options.jobs < 1:
        parser.error("--blocks and --jobs are 1 or more")
    return options


def main(arguments: Sequence[str]) -> None:
    options = _options(arguments)
    cells = read_cells()
    for pairing in () if options.table else PAIRINGS:
        if options.bot not in (None, pairing.one.bot):
            continue
        for rule_sets in options.rule_sets:
            for seats in options.seats:
                key = (pairing.one.name, pairing.others.name, rule_sets, seats)
                if options.again or key not in {cell.key for cell in cells}:
                    cell = play(pairing, rule_sets, seats, options)
                    cells = with_cell(read_cells(), cell)  # another call may have added some
                    write_cells(cells)
                    write_table(cells)
    write_cells(cells)
    write_table(cells)


if __name__ == "__main__":
    main(sys.argv[1:])
