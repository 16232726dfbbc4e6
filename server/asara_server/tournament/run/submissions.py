"""`submissions.jsonl`: a line for each block that a worker was given, written beforehand.

A block that a worker does not return continues from the worker's journal, or is played again from
its start if there is none. The file survives a runner that is killed: an attempt that was given to
a worker and has no result was lost, and its result will say so.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from asara_server.atomic_file import AppendedFile, replace_file

SUBMISSIONS: Final = "submissions.jsonl"

RUN_ENDED: Final = "the run ended before its worker returned it"


class Submission(BaseModel):
    """A line of `submissions.jsonl`."""

    model_config = ConfigDict(frozen=True)

    block: str
    attempts: tuple[str, ...]
    """Names of the attempts at matches of the block with which the worker begins."""
    lost: str
    """Why the worker that had them before did not return them; "" if none had."""


class SubmissionLog:
    """The submissions of a run, those of its earlier parts included."""

    def __init__(self, directory: Path) -> None:
        """Raises OSError if the file in a run directory cannot be read or written."""
        self._path = directory / SUBMISSIONS
        self._file: AppendedFile | None = None
        self._submitted: set[str] = set()
        self._lost: dict[str, tuple[str, ...]] = {}
        self._reasons: dict[str, str] = {}
        if self._path.is_file():
            submissions = read_submissions(self._path.read_bytes())
            # the last line may never have been written to its end
            replace_file(self._path, b"".join(map(_line, submissions)))
            self._submitted = {name for one in submissions for name in one.attempts}
            self._lost = losses(submissions)

    def submit(self, block: str, attempts: Sequence[str]) -> None:
        """Record that a worker is about to get these attempts; returns once that is on disk."""
        before = [name for name in attempts if name in self._submitted]
        why = self._reasons.get(before[0], RUN_ENDED) if before else ""
        submission = Submission(block=block, attempts=tuple(attempts), lost=why)
        if self._file is None:
            self._file = AppendedFile(self._path)
        self._file.append(_line(submission))
        os.fsync(self._file.fileno())
        self._submitted.update(attempts)
        for name in before:
            self._lost[name] = (*self.lost(name), why)

    def lose(self, attempts: Sequence[str], why: str) -> None:
        """Take note that a worker did not return these attempts."""
        self._reasons |= dict.fromkeys(attempts, why)

    def lost(self, attempt: str) -> tuple[str, ...]:
        """Return the reasons why earlier workers did not return an attempt, in order."""
        return self._lost.get(attempt, ())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def submitted_attempts(directory: Path) -> set[str]:
    """Return the names of all attempts that workers were given; raises OSError."""
    path = directory / SUBMISSIONS
    if not path.is_file():
        return set()
    return {name for one in read_submissions(path.read_bytes()) for name in one.attempts}


def attempt_losses(directory: Path) -> dict[str, tuple[str, ...]]:
    """Return the reasons why attempts were lost, by the name of the attempt; raises OSError."""
    path = directory / SUBMISSIONS
    return losses(read_submissions(path.read_bytes())) if path.is_file() else {}


def read_submissions(content: bytes) -> list[Submission]:
    """Return the lines of the file that can be read."""
    found = []
    for line in content.split(b"\n")[:-1]:
        try:
            found.append(Submission.model_validate_json(line))
        except ValidationError:
            continue
    return found


def losses(submissions: Sequence[Submission]) -> dict[str, tuple[str, ...]]:
    """Return the reasons why attempts were lost, by the name of the attempt."""
    seen: set[str] = set()
    found: dict[str, tuple[str, ...]] = {}
    for submission in submissions:
        for name in submission.attempts:
            if name in seen:
                found[name] = (*found.get(name, ()), submission.lost)
            seen.add(name)
    return found


def _line(submission: Submission) -> bytes:
    return f"{submission.model_dump_json()}\n".encode()
