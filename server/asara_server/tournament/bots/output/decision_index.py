"""Finds what a bot wrote during each of its decisions, using an index next to the log of its
output.

A bot can write anything to its log, so the runner keeps the index in its own file, `NAME.decisions`
next to `NAME.log`. Each line has a position in the log, in bytes, and the number of the decision
that was last requested when the bytes after this position were read. The number is 0 before the
first decision and after the match. Text written just before a reply may be read after the next
decision was requested, and is then counted for the later decision.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

from asara_server.bounded_file import MIB, open_ordinary
from asara_server.tournament.bots.output.error_output import clean_lines

SUFFIX: Final = ".decisions"
LONGEST_TEXT: Final = 4_000
"""Maximum characters kept of a bot's output during one decision."""
_LONGEST_OF_SEAT: Final = 64_000
"""Maximum characters kept of a bot's output during one match."""
_LARGEST: Final = 4 * MIB
"""Maximum bytes read from a log and from its index."""
_MOST_PLACES: Final = 5_000
"""Maximum lines read from an index; a seat has about 150 decisions in a match."""
_LINE: Final = re.compile(rb"^(\d{1,18}) (\d{1,9})\n", re.MULTILINE)
_NOTE: Final = re.compile(r"# (\d\d:\d\d:\d\d |cut: only )")
"""The prefix of the runner's own lines."""


def index_of(log: Path) -> Path:
    """Return the path of the index of a log."""
    return log.with_suffix(SUFFIX)


def append_index(path: Path, places: Iterable[tuple[int, int]]) -> None:
    """Append log positions with their decisions to the index; does nothing if the disk is full."""
    with suppress(OSError), path.open("ab") as file:
        file.write(b"".join(b"%d %d\n" % place for place in places))


def moved_index(content: bytes, bytes_before: int) -> bytes:
    """Return an index with all positions increased by the size of an earlier log, in bytes."""
    places = ((int(place) + bytes_before, int(number)) for place, number in _LINE.findall(content))
    return b"".join(b"%d %d\n" % place for place in places)


def decision_texts(run: Path, match_id: str, entries: Sequence[str]) -> dict[tuple[int, int], str]:
    """Return what the bots of a match wrote, by seat and decision, shortened and safe to show.

    `match_id` and `entries` are as in the match's replay. Without logs the result is empty.
    """
    texts = {}
    for seat, entry in enumerate(entries):
        log = run / "logs" / match_id / f"{seat}-{entry}.log"
        if log.parent.parent.name != "logs" or log.parent.name != match_id:
            continue  # a forged name that is a path
        left = _LONGEST_OF_SEAT
        for decision, lines in _lines_by_decision(log).items():
            text = "\n".join(lines)[: min(LONGEST_TEXT, left)]
            left -= len(text)
            if text:
                texts[seat, decision] = text
    return texts


def _lines_by_decision(log: Path) -> dict[int, list[str]]:
    index, content = _read(index_of(log)), _read(log)
    places = [(int(place), int(number)) for place, number in _LINE.findall(index)[:_MOST_PLACES]]
    found: dict[int, list[str]] = {}
    for (start, decision), (end, _) in pairwise([*places, (len(content), 0)]):
        if decision and start < end:
            for later in [number for number in found if number > decision]:
                del found[later]  # the match was begun again
            lines = (line for line in clean_lines(content[start:end]) if not _NOTE.match(line))
            found.setdefault(decision, []).extend(lines)
    return found


def _read(path: Path) -> bytes:
    with suppress(OSError), open_ordinary(path) as file:
        return file.read(_LARGEST)
    return b""
