"""Results of cases."""

from dataclasses import dataclass
from enum import Enum

from asara_server.conformance.case import Case


class Verdict(Enum):
    PASSED = "passed"
    FAILED = "failed"
    KNOWN = "known failure"
    """The case fails, and its author lists it as failing."""
    UNEXPECTED = "unexpected pass"
    """The case passes, although its author lists it as failing."""

    @property
    def good(self) -> bool:
        """True unless this verdict makes the run fail."""
        return self in (Verdict.PASSED, Verdict.KNOWN)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of a case.

    `expected` and `seen` are parts of a sentence. `streams` is the number of streams that were
    opened. If the case failed, `printed` is the end of standard error.
    """

    case: Case
    verdict: Verdict
    expected: str
    seen: str
    seconds: float
    streams: int
    printed: str = ""
