"""Results of cases."""

from dataclasses import dataclass
from enum import Enum

from asara_server.conformance.case import Case


class Verdict(Enum):
    PASSED = "passed"
    FAILED = "failed"
    KNOWN = "known failure"
    """It fails, as its author knows."""
    UNEXPECTED = "unexpected pass"
    """It passes, although its author lists it as failing."""

    @property
    def good(self) -> bool:
        """True unless it makes the run fail."""
        return self in (Verdict.PASSED, Verdict.KNOWN)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case that was played.

    `expected` and `seen` are parts of a sentence, `streams` is the number of streams that were
    opened, and `printed` the end of standard error if it failed.
    """

    case: Case
    verdict: Verdict
    expected: str
    seen: str
    seconds: float
    streams: int
    printed: str = ""
