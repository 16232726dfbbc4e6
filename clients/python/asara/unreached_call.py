"""Finds a program's call of `asara.run`, to tell the author why it was not reached."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_NAMES = re.compile(r"(asara\.)?run")


def unreached_call(path: str) -> str:
    """Return why a program ended without reaching its call of `run`; "" if it has none."""
    try:
        program = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ""
    for statement in program.body:
        if isinstance(statement, ast.If) and "__name__" in (test := ast.unparse(statement.test)):
            if "'__main__'" not in test:
                return (
                    f"{path}, line {statement.lineno}: `if {test}:` is never true, so asara.run "
                    'was not called; write `if __name__ == "__main__":`'
                )
            continue
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        call = next((one for one in calls if _NAMES.fullmatch(ast.unparse(one.func))), None)
        if call is None:
            continue
        if isinstance(statement, ast.FunctionDef) and not _is_used(statement, program):
            return (
                f"{path}, line {call.lineno}: asara.run was not called, because nothing calls "
                f"{statement.name}(); add the line `{statement.name}()` at the end"
            )
    return ""


def _is_used(function: ast.FunctionDef, program: ast.Module) -> bool:
    """Return True if the program uses the function's name outside the function."""
    others = (statement for statement in program.body if statement is not function)
    names = (node.id for one in others for node in ast.walk(one) if isinstance(node, ast.Name))
    return function.name in names
