"""The place where a program calls `asara.run`, to tell its author why it was not reached."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_NAMES = re.compile(r"(asara\.)?run")


def unreached_call(path: str) -> str:
    """Return why a program that has ended did not reach its call of `run`; "" if it has none."""
    try:
        program = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ""
    for statement in program.body:
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        call = next((one for one in calls if _NAMES.fullmatch(ast.unparse(one.func))), None)
        if call is None:
            continue
        if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
            test = f"if {ast.unparse(statement.test)}:"
            if "'__main__'" not in test:
                return (
                    f"{path}, line {statement.lineno}: `{test}` is never true, so asara.run below "
                    'it was not called; write `if __name__ == "__main__":`'
                )
        if isinstance(statement, ast.FunctionDef):
            return (
                f"{path}, line {call.lineno}: asara.run was not called, because nothing calls "
                f"{statement.name}(); add the line `{statement.name}()` at the end"
            )
        return (
            f"{path}, line {call.lineno}: the program ended before it reached asara.run; remove "
            "sys.exit() or whatever else ends it earlier"
        )
    return ""
