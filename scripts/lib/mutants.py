"""Changes a file in one place after another, and lists the changes that no test notices.

Pytest collects the tests once. For each mutant, a separate process replaces the code of one
function, and runs only the tests that executed the changed line, until one fails. The mutants come
in an order drawn from the seed, so that the first ones are a fair sample.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import gc
import json
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

import pytest
from _pytest.runner import runtestprotocol

ROOT: Final = Path(__file__).parent.parent.parent
_MOST_S: Final = 3600.0
"""Maximum seconds of a process that runs tests."""

_OPERATORS: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.FloorDiv, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
_NAMES: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield possible replacements for a node."""

    def changed(**fields: Any) -> ast.AST:
        new = copy.copy(node)
        vars(new).update(fields)
        return new

    match node:
        case ast.cmpop() | ast.operator() | ast.boolop() if type(node) in _OPERATORS:
            yield _OPERATORS[type(node)]()
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.AugAssign() | ast.Raise() | ast.Expr(value=ast.Call() | ast.Await()):
            yield ast.Pass()
        case ast.If(test=ast.Name() | ast.Attribute() | ast.Call() as test) | ast.IfExp(test=test):
            yield changed(test=ast.UnaryOp(ast.Not(), test))
        case ast.Constant(value=bool(value)):
            yield changed(value=not value)
        case ast.Constant(value=int(number) | float(number)):
            yield changed(value=number + 1)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) not in {"None", "False"}:
            yield changed(value=ast.Constant(None))
        case ast.Break() | ast.Continue():
            yield ast.Continue() if isinstance(node, ast.Break) else ast.Break()
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield changed(id=_NAMES[name])
        case ast.List(elts=parts, ctx=ast.Load()) | ast.Tuple(elts=parts, ctx=ast.Load()):
            for at in range(len(parts)):
                yield changed(elts=parts[:at] + parts[at + 1 :])
        case ast.Call(keywords=keywords):
            yield from (
                changed(keywords=keywords[:at] + keywords[at + 1 :])
                for at, keyword in enumerate(keywords)
                if ast.unparse(keyword) != "strict=False"  # the default of `zip`
            )


class _Change(ast.NodeTransformer):
    """Makes the change with this number in the functions of a module."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        """Functions around the node being visited, or around the change; outermost first."""
        self.line = 0
        self.around = ""
        self.what: tuple[int, str, str] | None = None
        """The change: line, text before, text after."""

    def visit(self, node: ast.AST) -> ast.AST:
        if self.what or isinstance(node, ast.arguments | ast.JoinedStr):
            return node
        parent = self.line, self.around
        if self.functions and isinstance(node, ast.stmt | ast.expr):
            self.line = node.lineno
            self.around = _text(node)
        for new in _changes(node) if self.functions else ():
            self.left -= 1
            if self.left < 0:
                before, after = _text(node) or self.around, _text(new) or type(new).__name__
                pairs = enumerate(zip(before, after, strict=False))
                start = max(next((at for at, (b, a) in pairs if a != b), 0) - 30, 0)
                self.what = (self.line, _short(before[start:]), _short(after[start:]))
                return new
        if isinstance(node, ast.Raise):  # an error's text is not tested
            return node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.functions.append(node)
            for place, statement in enumerate(node.body):
                node.body[place] = self.visit(statement)  # type: ignore[call-overload]
            if not self.what:
                self.functions.pop()
            return node
        if isinstance(node, ast.AnnAssign):
            node.value = node.value and self.visit(node.value)  # type: ignore[assignment]
            return node
        self.generic_visit(node)
        self.line, self.around = parent  # whose operator may be next
        return node


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a function."""

    line: int
    text: str
    code: CodeType
    """Changed code of the whole outermost function or method."""


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield all mutants of the functions of a module."""
    for number in count():
        change = _Change(number)
        tree = change.visit(ast.parse(path.read_text()))
        if change.what is None:
            return
        assert isinstance(tree, ast.Module)
        module = compile(ast.fix_missing_locations(tree), str(path), "exec")
        function = change.functions[0]
        first = min(each.lineno for each in (function, *function.decorator_list))
        wanted = (function.name, first)
        code = next(c for c in _codes(module) if (c.co_name, c.co_firstlineno) == wanted)
        line, before, after = change.what
        yield Mutant(line, f"{line:5} {code.co_qualname}: {before}  ->  {after}", code)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _short(text: str) -> str:
    return text if len(text) < 70 else text[:67] + "…"


class Session:
    """A pytest plugin that runs the collected tests against each mutant of a file."""

    def __init__(self, path: Path, found: list[Mutant], minutes: float) -> None:
        self.path = path
        self.found = found
        self.minutes = minutes
        self.survivors = 0
        self.caught = 0
        self.hung = 0
        """Number of caught mutants that ran too long or ended the process."""
        self.seconds: dict[str, tuple[float, float]] = {}
        """Duration of each test without a mutant, and of the fixtures that it shares."""
        self.tests_of_line: dict[int, set[str]] = defaultdict(set)
        self._lines: set[int] = set()
        """The file's lines that the running test or shared fixture has run."""
        self._shared: dict[object, tuple[float, set[int]]] = {}
        """Duration and lines of each shared fixture."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        ran = _in_child(lambda: self._measure(session.items))
        if ran is None:
            pytest.exit("the tests took too long or ended the process without a mutant", 3)
        for name, (own_s, shared_s, lines) in ran.items():
            self.seconds[name] = own_s, shared_s
            for line in lines:
                self.tests_of_line[line].add(name)
        until = time.monotonic() + 60 * self.minutes
        for mutant in self.found:
            if time.monotonic() > until:
                break
            self._try(mutant, session.items)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Any:
        """Measure what a shared fixture does apart from the test that happens to need it first."""
        if fixturedef.scope == "function":
            return (yield)
        before = set(self._lines)
        self._lines.clear()
        began = time.monotonic()
        try:
            return (yield)
        finally:
            self._shared[fixturedef] = time.monotonic() - began, set(self._lines)
            self._lines |= before

    def _measure(self, items: list[pytest.Item]) -> dict[str, tuple[float, float, list[int]]]:
        """Run the tests without a mutant; return the durations and lines of the tests that pass."""
        ran = {}
        for item, following in zip(items, [*items[1:], None], strict=False):
            self._lines.clear()
            known = set(self._shared)
            began = time.monotonic()
            with _traced(self.path, self._lines):
                passed = _passes(item, following)
            own_s = time.monotonic() - began
            own_s -= sum(self._shared[each][0] for each in self._shared.keys() - known)
            if passed:
                assert isinstance(item, pytest.Function)
                fixtures = chain.from_iterable(item._fixtureinfo.name2fixturedefs.values())
                used = [self._shared[each] for each in fixtures if each in self._shared]
                lines = self._lines.union(*(lines for _, lines in used))
                ran[item.nodeid] = own_s, sum(seconds for seconds, _ in used), list(lines)
        return ran

    def _try(self, mutant: Mutant, items: list[pytest.Item]) -> None:
        names = self.tests_of_line.get(mutant.line, set())
        run = [item for item in items if item.nodeid in names]
        quickest: dict[Path, float] = {}
        """By file of tests, in which tests share fixtures."""
        for item in run:
            seconds = sum(self.seconds[item.nodeid])
            quickest[item.path] = min(seconds, quickest.get(item.path, seconds))
        run.sort(key=lambda each: (quickest[each.path], each.path, self.seconds[each.nodeid]))
        # A mutant that hangs or ends the process is noticed as well.
        most_s = [10 + 5 * sum(self.seconds[item.nodeid]) for item in run]
        noticed = run and _in_child(lambda: _notices(mutant, run, most_s))
        if run and noticed is not False:
            self.caught += 1
            self.hung += noticed is None
        else:
            self.survivors += 1
            tried = f"{self.survivors} of {self.caught + self.survivors}"
            print(f"  not caught, {tried}: {mutant.text}   ({len(run)} tests)", flush=True)


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    reports = runtestprotocol(item, log=False, nextitem=following)
    return all(report.passed for report in reports)


def _notices(mutant: Mutant, items: list[pytest.Item], most_s: list[float]) -> bool:
    """Put a mutant in place; return whether a test fails. If one takes longer, the process ends."""
    wanted = _place(mutant.code)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and _place(each.__code__) == wanted:
            each.__code__ = mutant.code
        elif hasattr(type(each), "cache_clear"):
            each.cache_clear()
    for item, following, limit_s in zip(items, [*items[1:], None], most_s, strict=True):
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        if not _passes(item, following):
            return True
    return False


def _place(code: CodeType) -> tuple[str, int, str]:
    return code.co_qualname, code.co_firstlineno, code.co_filename


@contextlib.contextmanager
def _traced(path: Path, lines: set[int]) -> Iterator[None]:
    """Collect the lines of a file that run in the meantime, in all threads of this process."""

    def line(frame: FrameType, *_: object) -> Any:
        lines.add(frame.f_lineno)
        return line

    def call(frame: FrameType, *_: object) -> Any:
        return line if frame.f_code.co_filename == str(path) else None

    threading.settrace(call)
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(None)
        threading.settrace(None)


def _in_child(work: Callable[[], object]) -> Any:
    """Run a function in a child process; return None if it takes too long or ends early."""
    with tempfile.TemporaryFile() as file:
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            try:
                file.write(json.dumps(work()).encode())
                file.flush()
            finally:
                os._exit(0)
        until = time.monotonic() + _MOST_S
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > until:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return None
            time.sleep(0.01)
        file.seek(0)
        return json.loads(file.read() or "null")


def tests_of(path: Path) -> list[str]:
    """Return a module's tests: files in the mirroring test folder that import the module."""
    parts = path.relative_to(ROOT / "server").with_suffix("").parts
    folder = Path(*parts[1:-1]) if len(parts) > 2 else Path(parts[0].removeprefix("asara_"))
    package, name = ".".join(parts[:-1]), parts[-1]
    imports = re.compile(rf"{package}\.{name}\b|from {package} import .*\b{name}\b")
    return [
        str(each)
        for each in sorted((ROOT / "tests").rglob("test_*.py"))
        if each.parent == ROOT / "tests" / folder or imports.search(each.read_text())
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--only", default="", metavar="NAME", help="a function or class")
    parser.add_argument(
        "--most", type=int, default=10_000, metavar="N", help="the first mutants of a file"
    )
    parser.add_argument("--seed", type=int, default=0, help="for the order of the mutants (0)")
    parser.add_argument(
        "--minutes", type=float, default=30.0, help="for the mutants of a file (30)"
    )
    parser.add_argument("--tests", nargs="+", metavar="TEST", help="others than those of the file")
    parser.add_argument("--long", action="store_true", help="run the long tests as well")
    options = parser.parse_args()
    missed = 0
    for path in (file.resolve() for file in options.files):
        found = [each for each in mutants(path) if each.code.co_qualname.startswith(options.only)]
        random.Random(options.seed).shuffle(found)
        found = found[: options.most]
        plugin = Session(path, found, options.minutes)
        args = ["-q", "-p", "no:cacheprovider", "-n", "0", *(options.tests or tests_of(path))]
        if options.long:
            args += ["-m", "not browser and not compiled and not languages"]
        if pytest.main(args, [plugin]) not in {0, 5}:
            return 2
        missed += plugin.survivors
        tried = plugin.caught + plugin.survivors
        hung = f", {plugin.hung} of them as they hung or ended the process" if plugin.hung else ""
        print(f"{path.relative_to(ROOT)}: {plugin.caught} of {tried} mutants caught{hung}")
        if tried < len(found):
            print(f"  {len(found) - tried} not tried: --minutes {options.minutes:g} were over")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
