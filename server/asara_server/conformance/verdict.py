"""Results of cases, also as JUnit XML, for other programs to read."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from xml.etree import ElementTree as ET

from asara_server.conformance.case import Case
from asara_server.text import plain


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


def as_junit(results: Sequence[CaseResult]) -> bytes:
    """Return a JUnit test suite; a known failure counts as skipped."""
    suite = ET.Element(
        "testsuite",
        name="asara conformance",
        tests=str(len(results)),
        failures=str(sum(not result.verdict.good for result in results)),
        skipped=str(sum(result.verdict is Verdict.KNOWN for result in results)),
        time=f"{sum(result.seconds for result in results):.3f}",
    )
    for result in results:
        case = ET.SubElement(
            suite,
            "testcase",
            classname="conformance",
            name=result.case.name,
            time=f"{result.seconds:.3f}",
        )
        message = plain(f"expected {result.expected}; seen: {result.seen}", longest=None)
        if result.verdict is Verdict.KNOWN:
            ET.SubElement(case, "skipped", message=f"known failure: {message}")
        elif not result.verdict.good:
            failure = ET.SubElement(case, "failure", message=message)
            lines = [result.case.proves, *result.printed.splitlines()]
            failure.text = "\n".join(plain(line, longest=None) for line in lines)
    document: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return document + b"\n"
