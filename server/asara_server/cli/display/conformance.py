"""Shows the results of a conformance run on the terminal."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from rich.text import Text

from asara_server.cli.display.console import out
from asara_server.cli.display.quantities import duration
from asara_server.conformance.case import Case
from asara_server.conformance.verdict import CaseResult, Verdict
from asara_server.text import count, plain

_MARKS: Final = {
    Verdict.PASSED: ("ok", "green"),
    Verdict.FAILED: ("FAIL", "bold red"),
    Verdict.KNOWN: ("known", "yellow"),
    Verdict.UNEXPECTED: ("FAIL", "bold red"),
}
_MARK_WIDTH: Final = 6
_LONGEST_SEEN: Final = 400
_MOST_NAMED: Final = 10
"""Maximum number of failed cases in a suggested command; with more, it would be far too long."""


class ResultLines:
    """Prints a line for each case, and more lines for each case that fails."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._width = max(len(case.name) for case in cases) + 2
        self._printed = ""

    def show(self, result: CaseResult) -> None:
        """Print the result of a case; if it failed, also what was expected and what was seen."""
        mark, style = _MARKS[result.verdict]
        line = Text.assemble(
            (f"{mark:<{_MARK_WIDTH}}", style), f"{result.case.name:<{self._width}}"
        )
        match result.verdict:
            case Verdict.PASSED:
                line.append(result.seen.replace(result.expected, f"{result.expected} as expected"))
                self._print(line)
            case Verdict.UNEXPECTED:
                line.append("passes, although it is listed as failing; remove it there")
                self._print(line)
            case _:
                line.append(f"expected {plain(result.expected, longest=_LONGEST_SEEN)}")
                self._print(line)
                self._detail("seen", result.seen)
        if result.verdict is Verdict.FAILED:
            self._detail("proves", result.case.proves)
            self._detail("says", f"{result.case.level.page}: {result.case.says}")
            self._show_printed(result.printed)

    def describe(self, case: Case) -> None:
        """Print what a case proves."""
        self._print(Text(f"{case.name:<{self._width}}{case.proves}"), self._width)

    def _show_printed(self, printed: str) -> None:
        """Print the last lines of standard error, unless the previous case printed the same."""
        if printed and printed == self._printed:
            self._detail("stderr", "the same as above")
            return
        for number, line in enumerate(printed.splitlines()):
            self._detail("" if number else "stderr", line.expandtabs(4), style="dim")
        self._printed = printed or self._printed

    def _detail(self, label: str, text: str, style: str = "") -> None:
        blanks = " " * (_MARK_WIDTH + self._width)
        shown = plain(text, longest=_LONGEST_SEEN)
        self._print(Text.assemble(blanks, (f"{label:<9}", "dim"), (shown, style)))

    def _print(self, line: Text, indent: int = 0) -> None:
        """Print a line; on a terminal, break it between words and indent what follows."""
        indent = indent or _MARK_WIDTH + self._width
        if not out.is_terminal:
            out.print(line, soft_wrap=True)
            return
        first, *rest = line.wrap(out, max(out.width, indent + 20))
        out.print(first, soft_wrap=True)
        if rest:
            remaining = Text(" ").join(rest)
            for part in remaining.wrap(out, max(out.width - indent, 20)):
                out.print(Text(" " * indent) + part, soft_wrap=True)


def show_summary(command: Sequence[str], results: Sequence[CaseResult], seconds: float) -> None:
    """Print how many cases passed, and the command that repeats the failed ones."""
    counts = Counter(result.verdict for result in results)
    parts = [f"{counts[verdict]} {_NOUNS[verdict]}" for verdict in Verdict if counts[verdict]]
    good = all(result.verdict.good for result in results)
    text = f"{count(len(results), 'case')} in {duration(seconds)}: {', '.join(parts)}"
    out.print(Text(text, style="bold green" if good else "bold red"), soft_wrap=True)
    if not good and len(results) > 1:
        bad = [result.case.name for result in results if not result.verdict.good]
        patterns = " ".join(f"--case {name}" for name in bad[:_MOST_NAMED])
        which = "Again:" if len(bad) <= _MOST_NAMED else f"The first {_MOST_NAMED} again:"
        again = f"{which} asara conformance {patterns} -- {shlex.join(command)}"
        out.print(plain(again, longest=None), soft_wrap=True)


_NOUNS: Final = {
    Verdict.PASSED: "passed",
    Verdict.FAILED: "failed",
    Verdict.KNOWN: "failed as known",
    Verdict.UNEXPECTED: "passed unexpectedly",
}


def show_cases(cases: Sequence[Case]) -> None:
    """Print all cases by level, with their names and what they prove."""
    lines = ResultLines(cases)
    for level, group in groupby(cases, key=lambda case: case.level):
        out.print(Text(f"{level}: {level.page}", style="bold"), soft_wrap=True)
        for case in group:
            lines.describe(case)
