"""The file of an analysis that is not finished, so that an interrupted analysis can continue.

The process that finds the values holds a lock on the file.

Each line is a digest and a value in JSON, in the order in which the analysis finds the values. A
digest covers the replay, the budget, the versions and all lines so far. So the lines from a damaged
one on are not used, and no line is used for another analysis.
"""

from collections.abc import Callable
from hashlib import sha256
from os import ftruncate
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from asara_game.rules import RULES_VERSION
from asara_search.analysis import BUDGETS, VERSION
from asara_server.atomic_file import AppendedFile
from asara_server.bounded_file import read_bounded
from asara_server.journal.file_lock import hold, holder, known_holder
from asara_server.journal.journal import in_use
from asara_server.replay.analysis_file import LARGEST_FILE
from asara_server.user_error import UserError

_Found = TypeVar("_Found")


def unfinished_path(target: Path, budget: str) -> Path:
    """Return the path for what was found so far of an analysis that will be in `target`."""
    return target.with_name(f"{target.name}.{budget}.part")


def check_not_held(path: Path) -> None:
    """Raise UserError if another process is finding the values of this file."""
    if (process := known_holder(path)) is not None:
        raise _held(path, process)


def _held(path: Path, process: int) -> UserError:
    return UserError(f"{path}: {in_use(process, 'analysis')}")


class UnfinishedAnalysis:
    """The values found so far. Each new value is written to the file immediately.

    `damaged` is the number of the first line that is not used, or 0.
    """

    def __init__(self, path: Path, replay: bytes, budget: str) -> None:
        """Open the file, creating it if it does not exist; raises OSError.

        Raises UserError if another process holds it.
        """
        about = (VERSION, RULES_VERSION, BUDGETS[budget], sha256(replay).hexdigest())
        self._digest = sha256(repr(about).encode()).hexdigest().encode()
        try:
            data = read_bounded(path, LARGEST_FILE)
        except FileNotFoundError:
            data = b""
        *lines, _ = data.split(b"\n")  # a line without an end was being written
        known = self._sound(lines)
        self._known = iter(known)
        self.damaged = len(known) + 1 if len(known) < len(lines) else 0
        self._file = AppendedFile(path)
        try:
            hold(self._file.fileno())
        except (BlockingIOError, PermissionError):
            process = holder(self._file.fileno()) or 0
            self._file.close()
            raise _held(path, process) from None
        ftruncate(self._file.fileno(), sum(len(line) + 1 for line in lines[: len(known)]))

    def _sound(self, lines: list[bytes]) -> list[bytes]:
        """Return the values of all lines before the first damaged one."""
        found: list[bytes] = []
        for line in lines:
            digest, _, value = line.partition(b" ")
            if digest != self._digest_with(value):
                break
            self._digest = digest
            found.append(value)
        return found

    def _digest_with(self, value: bytes) -> bytes:
        return sha256(self._digest + value).hexdigest().encode()

    def recall(self, kind: TypeAdapter[_Found], find: Callable[[], _Found]) -> _Found:
        """Return the next value from the file or, after the last one, find it and write it.

        Raises OSError if it cannot be written.
        """
        known = next(self._known, None)
        if known is not None:
            try:
                return kind.validate_json(known)
            except ValidationError:  # somebody else wrote the file
                self._known = iter(())
        found = find()
        value = kind.dump_json(found)
        self._digest = self._digest_with(value)
        self._file.append(self._digest + b" " + value + b"\n")
        return found

    def close(self) -> None:
        self._file.close()
