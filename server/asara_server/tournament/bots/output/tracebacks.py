"""Splits the frames of Python tracebacks into the author's own and those of libraries."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

_FRAME = re.compile(r'[\s|]*File "(?P<file>.+)", line (?P<line>\d+)(?:,? in (?P<function>.+))?$')
_INDENT = re.compile(r"[\s|+]*")  # exception groups draw bars in front of lines
_LIBRARY = re.compile(r"^<|/lib(?:64)?/python\d|/(?:site|dist)-packages/|/clients/python/asara/")


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a Python traceback."""

    start: int
    """Index of the frame's first line within the output."""
    end: int
    """Index just after the frame's last line."""
    file: str
    line: int
    function: str

    @property
    def own(self) -> bool:
        """True if the line belongs to the author's code, not to a library."""
        return _LIBRARY.search(self.file) is None

    @property
    def module(self) -> str:
        """The file's module name, without its package."""
        return PurePath(self.file).stem

    @property
    def place(self) -> str:
        return f"{PurePath(self.file).name}, line {self.line}"


def frames(lines: Sequence[str]) -> list[Frame]:
    """Return the frames found in lines of output, in order."""
    return list(_frames(lines))


def last_own(frames: Sequence[Frame]) -> Frame | None:
    """Return the last frame of the author's own code, or None if there is none."""
    return next((frame for frame in reversed(frames) if frame.own), None)


def _frames(lines: Sequence[str]) -> Iterator[Frame]:
    for number, line in enumerate(lines):
        if found := _FRAME.match(line):
            indent = _indent(line)
            end = number + 1
            while end < len(lines) and _indent(lines[end]) > indent:
                end += 1
            yield Frame(number, end, found["file"], int(found["line"]), found["function"] or "")


def _indent(line: str) -> int:
    return len(_INDENT.match(line)[0])  # type: ignore[index] # it matches every line
