"""Changes a file in one place after another, and lists the changes that no test notices.

Pytest collects once. One process per mutant replaces the code of one function, and only those tests
run that ran the changed line.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import gc
import json
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

import pytest
from _pytest.runner import runtestprotocol

ROOT: Final = Path(__file__).parent.parent.parent
_MOST_S: Final = 15.0
"""Seconds of the tests of one mutant, as measured without a mutant: the quickest are taken."""
_MEASURE_S: Final = 900.0
_FORMS: Final = "not long and not languages and not browser and not compiled"

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.FloorDiv, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
_NAMES: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a function."""

    line: int
    was: str
    now: str
    code: CodeType
    """Of the whole function, changed."""

    def __str__(self) -> str:
        return f"{self.line:5} {self.code.co_qualname}: {self.was}  ->  {self.now}"


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield all mutants of the functions of a module."""
    tree = ast.parse(path.read_text())
    for function in _functions(tree):
        for parent in (each for statement in function.body for each in _walk(statement, function)):
            for field, index, node in _children(parent):
                for change in _changes(node):
                    put = ast.copy_location(change or ast.Pass(), node)
                    _put(parent, field, index, ast.fix_missing_locations(put))
                    code = _code(compile(tree, str(path), "exec"), function)
                    _put(parent, field, index, node)
                    line: int = getattr(node, "lineno", function.lineno)
                    yield Mutant(line, _short(node), _short(put), code)


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the outermost functions and methods, which hold all others."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        else:
            yield from _functions(child)


def _walk(node: ast.AST, parent: ast.AST) -> Iterator[ast.AST]:
    """Yield `parent` for the node itself, then every node below it that has children to change."""
    if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and node is parent.body[0]:
        yield parent
    todo = [node]
    while todo:
        each = todo.pop()
        yield each
        todo += [child for _, _, child in _children(each)]


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    """Yield what may be changed below a node: no annotations, defaults, decorators, or texts."""
    if isinstance(node, ast.Raise | ast.JoinedStr):
        return
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "decorator_list", "args", "returns"} and not isinstance(
            node, ast.Call
        ):
            continue
        if isinstance(value, ast.AST):
            yield field, None, value
        elif isinstance(value, list):
            yield from (
                (field, at, each) for at, each in enumerate(value) if isinstance(each, ast.AST)
            )


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _changes(node: ast.AST) -> Iterator[ast.AST | None]:  # noqa: C901 - one table
    """Yield nodes to put in the place of this one; None deletes a statement."""
    match node:
        case ast.Compare(ops=[operator]):
            yield _with(node, ops=[_COMPARISONS[type(operator)]()])
        case ast.BoolOp():
            yield _with(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(op=operator) if type(operator) in _OPERATORS:
            yield _with(node, op=_OPERATORS[type(operator)]())
        case ast.AugAssign() | ast.Raise() | ast.Expr(value=ast.Call() | ast.Await()):
            yield None
        case ast.If(test=ast.Name() | ast.Attribute() | ast.Call() as test) | ast.IfExp(test=test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Constant(value=bool(value)):
            yield _with(node, value=not value)
        case ast.Constant(value=int(number) | float(number)):
            yield _with(node, value=number + 1)
        case ast.Return(value=value) if value and ast.unparse(value) != "None":
            yield _with(node, value=ast.Constant(None))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield _with(node, id=_NAMES[name])
        case ast.List(elts=elts, ctx=ast.Load()) | ast.Tuple(elts=elts, ctx=ast.Load()):
            for at in range(len(elts)):
                yield _with(node, elts=elts[:at] + elts[at + 1 :])
        case ast.Call(keywords=keywords):
            for at in range(len(keywords)):
                yield _with(node, keywords=keywords[:at] + keywords[at + 1 :])


def _with(node: ast.AST, **changed: Any) -> ast.AST:
    new = copy.copy(node)
    for name, value in changed.items():
        setattr(new, name, value)
    return new


def _code(module: CodeType, function: ast.FunctionDef | ast.AsyncFunctionDef) -> CodeType:
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    return next(
        code
        for code in _all_code(module)
        if (code.co_name, code.co_firstlineno) == (function.name, first)
    )


def _all_code(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _all_code(each)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) < 70 else text[:67] + "…"


class Session:
    """A plugin of pytest that runs the collected tests against each mutant of a file."""

    def __init__(self, path: Path, found: list[Mutant], until: float) -> None:
        self.path = path
        self.found = found
        self.until = until
        self.survivors: list[str] = []
        self.caught = 0
        self.slow: list[str] = []
        self.left_out = 0
        self.seconds: dict[str, float] = {}
        """By test; without a mutant."""
        self.tests_of_line: dict[int, set[str]] = defaultdict(set)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        ran = _in_child(lambda: self._measure(session.items), _MEASURE_S)
        if ran is None:
            pytest.exit(f"the tests took more than {_MEASURE_S:g} s without a mutant", 3)
        for name, (seconds, lines) in ran.items():
            self.seconds[name] = seconds
            for line in lines:
                self.tests_of_line[line].add(name)
        for at, mutant in enumerate(self.found):
            if time.monotonic() > self.until:
                self.left_out = len(self.found) - at
                break
            self._try(mutant, session.items)
            _progress(f"{at + 1}/{len(self.found)}, {len(self.survivors)} not caught")
        return True

    def _measure(self, items: list[pytest.Item]) -> dict[str, tuple[float, list[int]]]:
        """Run the tests without a mutant; return seconds and lines of those that pass."""
        ran = {}
        for item, following in zip(items, [*items[1:], None], strict=True):
            began = time.monotonic()
            with _traced(self.path) as lines:
                passed = _passes(item, following)
            if passed:
                ran[item.nodeid] = (time.monotonic() - began, list(lines))
            _progress(f"{len(ran)}/{len(items)} tests without a mutant")
        return ran

    def _try(self, mutant: Mutant, items: list[pytest.Item]) -> None:
        names = self.tests_of_line.get(mutant.line) or set().union(
            *(self.tests_of_line.get(line, ()) for line in _lines(mutant.code))
        )
        chosen: set[str] = set()
        seconds = 0.0
        for name in sorted(names, key=self.seconds.__getitem__):
            seconds += self.seconds[name]
            if chosen and seconds > _MOST_S:
                break
            chosen.add(name)
        run = [item for item in items if item.nodeid in chosen]
        run.sort(key=lambda item: self.seconds[item.nodeid])
        noticed = False
        if run:
            noticed = _in_child(lambda: _notices(mutant, self.path, run), 20.0 + 4 * seconds)
        if noticed is False:
            self.survivors.append(f"{mutant}   ({len(run)} tests)")
            return
        self.caught += 1
        if noticed is None:
            self.slow.append(str(mutant))


def _lines(code: CodeType) -> set[int]:
    """The lines of a function's body."""
    codes = [code, *_all_code(code)]
    return {line for each in codes for *_, line in each.co_lines() if line} - {code.co_firstlineno}


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    reports = runtestprotocol(item, log=False, nextitem=following)
    return all(report.passed for report in reports)


def _notices(mutant: Mutant, path: Path, items: list[pytest.Item]) -> bool:
    """Put the mutant in place, and return whether a test fails."""
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            code = each.__code__
            if (code.co_qualname, code.co_firstlineno, code.co_filename) == (
                mutant.code.co_qualname,
                mutant.code.co_firstlineno,
                str(path),
            ):
                each.__code__ = mutant.code
        elif hasattr(type(each), "cache_clear"):
            each.cache_clear()
    followed = zip(items, [*items[1:], None], strict=True)
    return not all(_passes(item, following) for item, following in followed)


@contextlib.contextmanager
def _traced(path: Path) -> Iterator[set[int]]:
    """Collect the lines of a file that run meanwhile, in all threads of this process."""
    lines: set[int] = set()
    name = str(path)

    def line(frame: FrameType, *_: object) -> Any:
        lines.add(frame.f_lineno)
        return line

    def call(frame: FrameType, *_: object) -> Any:
        return line if frame.f_code.co_filename == name else None

    threading.settrace(call)
    sys.settrace(call)
    try:
        yield lines
    finally:
        sys.settrace(None)
        threading.settrace(None)


def _in_child(work: Callable[[], object], most_s: float) -> Any:
    """Return what a process of its own returns; None if that takes too long or it ends early."""
    with tempfile.TemporaryFile() as file:
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            status = 1
            try:
                os.write(file.fileno(), json.dumps(work()).encode())
                status = 0
            finally:
                os._exit(status)
        until = time.monotonic() + most_s
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > until:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return None
            time.sleep(0.01)
        file.seek(0)
        content = file.read()
    return json.loads(content) if content else None


def _progress(text: str) -> None:
    if sys.__stderr__.isatty():
        sys.__stderr__.write(f"\r\033[K{text}")


def tests_of(path: Path) -> list[str]:
    """Return the test files of a module: in the folder that mirrors its own, and that import it."""
    parts = path.relative_to(ROOT / "server").with_suffix("").parts
    folder = (
        Path("tests", *parts[1:-1])
        if len(parts) > 2
        else Path("tests", parts[0].removeprefix("asara_"))
    )
    package, name = ".".join(parts[:-1]), parts[-1]
    imports = re.compile(rf"{package}\.{name}\b|from {package} import .*\b{name}\b")
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    chosen = [
        each
        for each in tests
        if folder == each.relative_to(ROOT).parent or imports.search(each.read_text())
    ]
    return [str(each.relative_to(ROOT)) for each in chosen]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--only", default="", metavar="NAME", help="a function or class of the file"
    )
    parser.add_argument(
        "--most", type=int, default=10_000, help="mutants of a file, spread over it"
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="for each file (30)")
    words, _, tests = " ".join(sys.argv[1:]).partition(" -- ")
    options = parser.parse_args(words.split())
    missed = 0
    for path in (file.resolve() for file in options.files):
        found = [each for each in mutants(path) if each.code.co_qualname.startswith(options.only)]
        found = found[:: max(1, -(-len(found) // options.most))]
        plugin = Session(path, found, time.monotonic() + 60 * options.minutes)
        args = ["-q", "-p", "no:cacheprovider", "-n", "0", "-m", _FORMS]
        if pytest.main([*args, *(tests.split() or tests_of(path))], [plugin]) not in {0, 5}:
            return 2
        missed += len(plugin.survivors)
        print(
            f"\n{path.relative_to(ROOT)}: {plugin.caught} of {len(found) - plugin.left_out} mutants "
            "caught"
        )
        for text, lines in (
            ("not caught", plugin.survivors),
            ("ended by the time limit", plugin.slow),
        ):
            print(*(f"  {text}: {line}" for line in lines), sep="\n")
        if plugin.left_out:
            print(f"  {plugin.left_out} not tried: --minutes {options.minutes:g} were over")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
