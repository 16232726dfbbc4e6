"""Whole tournaments of bots that cheat, what reached them, and how many hands they knew of which.

`magpie.py` tries everything. A guess is right by chance as often as a hand of another match would
have been the same.
"""

import os
import re
import shutil
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from scipy.stats import poisson

from tests.tournament.sample_bots import SEED, entry_table
from tests.tournament.samples import read_results

FOLDER = Path(__file__).parent
_SAW = re.compile(r"^SAW (\S+) (\S+) (\d) (\d) (\d+) (\S+)$", re.MULTILINE)
_GUESS = re.compile(r"^GUESS (\S+) (\S+) (\d) (\d) (\d+) (.+)$", re.MULTILINE)
_CHANNEL = re.compile(r"^(own|foreign|refused) (.+)$", re.MULTILINE)

Blocks = Literal["mirrored", "duplicate"]


def enter(
    folder: Path, blocks: Blocks, processes: str, *, at_once: int, rounds: int, extra: str = ""
) -> Path:
    """Write a tournament of magpies: two in mirrored blocks, or four in duplicate ones.

    They are all accomplices: each tells the others, under their several names.
    """
    names = ("ann", "bob", "cid", "dot")[: 2 if blocks == "mirrored" else 4]
    number = f"rounds = {rounds}" if blocks == "mirrored" else f"blocks_per_entry = {rounds}"
    text = (
        f'title = "Cup"\nseats = 2\nrules = "basic"\nseed = "{SEED}"\nblocks = "{blocks}"\n'
        f'{number}\njobs = {at_once}\nprocess_per = "{processes}"\n{extra}'
    )
    for name in names:
        (folder / name).mkdir()
        for program in ("magpie.py", "holding.py", "carriers.py"):
            shutil.copy(FOLDER / program, folder / name)
        environment = f'{{ NEST = "{nest(folder)}" }}'
        text += entry_table(name, "python magpie.py", environment=environment)
    (folder / "cup.toml").write_text(text)
    return folder / "cup.toml"


def nest(folder: Path) -> str:
    """Return the NEST of the magpies in a folder, which no other run of the tests uses."""
    return f"{folder.name}-{os.getpid()}"


@dataclass
class Known:
    """What the bots of a run knew of hands that they did not hold."""

    matches: int = 0
    later: int = 0
    """Matches whose deal had been played before."""
    right: Counter[str] = field(default_factory=Counter)
    """Right guesses, by channel."""
    guesses: Counter[str] = field(default_factory=Counter)
    by_chance: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Guesses that would be right by chance, by channel."""
    channels: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Channels that could not be used at all, and carriers of texts of the `own` process or of
    others, which are `foreign`.
    """
    processes: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    """Match and seat of each process."""

    @property
    def chance_of_as_many(self) -> float:
        """Probability of as many right guesses as there were, or more, without any knowledge."""
        return float(poisson.sf(self.right.total() - 1, sum(self.by_chance.values())))


def known(run: Path) -> Known:
    """Read what the bots of a run printed."""
    played = sorted(read_results(run / "results.jsonl"), key=lambda result: result.started)
    first = {result.block: result.played_as for result in reversed(played)}
    later = {result.played_as for result in played} - set(first.values())
    found = Known(matches=len(played), later=len(later))
    held: dict[tuple[str, str, str], int] = {}
    texts = [path.read_text(errors="replace") for path in (run / "logs").glob("*/*.log")]
    for text in texts:
        for kind, channel in _CHANNEL.findall(text):
            found.channels[kind].add(channel)
        for _, match, seat, year, hand, process in _SAW.findall(text):
            held[match, seat, year] = int(hand)
            found.processes[process].add((match, seat))
    all_hands = Counter(held.values())
    for text in texts:
        for _, match, seat, year, hand, channel in _GUESS.findall(text):
            if match in later and (match, seat, year) in held:
                found.guesses[channel] += 1
                found.right[channel] += held[match, seat, year] == int(hand)
                found.by_chance[channel] += all_hands[int(hand)] / all_hands.total()
    return found
