"""These tests stay green while the server is rebuilt, because they import nothing of it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
INSIDE = {path.name for path in (HERE.parents[1] / "server").iterdir() if path.is_dir()}
FILES = sorted(HERE.rglob("*.py"))


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: write the whole name of what it imports"
            yield node.module or ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(HERE)))
def test_no_test_here_imports_the_server_even_through_a_helper(file: Path) -> None:
    assert "asara_server" in INSIDE
    todo, seen = [file], {file}
    while todo:
        importer = todo.pop()
        for name in imported(importer):
            first, *rest = name.split(".")
            assert first not in INSIDE, f"{importer} imports {name}"
            if first == "tests" and rest[:1] != ["contract"]:
                helper = HERE.parent.joinpath(*rest).with_suffix(".py")
                assert helper.is_file(), f"{importer} imports {name}: write the whole name"
                if helper not in seen:
                    seen.add(helper)
                    todo.append(helper)
