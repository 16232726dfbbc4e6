"""The results of a run as JUnit XML, for other programs to read."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from asara_server.conformance.verdict import CaseResult, Verdict
from asara_server.text import plain


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
