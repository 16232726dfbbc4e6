"""The drawings of the architecture, and the list of places to find things, match the code."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.documents import ROOT, code_words, drawing, read, table

SERVER = "server/README.md"
SOURCES = ROOT / "server/asara_server"
CONTRIBUTING = "CONTRIBUTING.md"


def contract(first: str) -> list[set[str]]:
    """Return the layers of the contract that begins with this one, without the package's name."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = [c for c in config["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    (layers,) = (c["layers"] for c in contracts if c["layers"][0] == first)
    return [set(layer.replace("asara_server.", "").split(" | ")) for layer in layers]


def folders(folder: Path) -> set[str]:
    """Return the names of the Python folders in a folder."""
    return {path.name for path in folder.iterdir() if any(path.glob("*.py"))}


# Layers and rooms


def drawn_layers() -> list[set[str]]:
    rows = [re.split(r" {2,}", line.strip())[0] for line in drawing(SERVER, "Layers").splitlines()]
    return [set(row.split(" | ")) for row in rows if row != "asara_server"]


def drawn_rooms() -> list[set[str]]:
    """Return the names in the picture of the rooms, row by row, from the top."""
    names = re.findall(r'<text class="name" x="\d+" y="(\d+)">(\w+)<', read("server/rooms.svg"))
    rows: dict[int, set[str]] = {}
    for height, name in names:
        rows.setdefault(int(height), set()).add(name)
    return [rows[height] for height in sorted(rows)]


def test_layers_are_those_of_the_contract():
    assert drawn_layers() == contract("asara_server.cli")


def test_rooms_stand_in_the_order_of_the_layers():
    rooms = folders(SOURCES)
    rows = [row & rooms for row in drawn_rooms() if row & rooms]
    assert rows == [layer & rooms for layer in contract("asara_server.cli") if layer & rooms]
    assert set().union(*rows) == rooms


def test_rooms_of_the_tournament_stand_in_the_order_of_its_layers():
    rooms = folders(SOURCES) - {"tournament"}
    assert [row for row in drawn_rooms() if not row & rooms] == [
        {"tournament"},
        *contract("runner"),
    ]


# The life of a reply


def test_stations_of_a_reply_are_modules():
    stations = re.findall(
        r"^[ ├─▶]*(\w+/\w+)", drawing(SERVER, "The life of a reply"), re.MULTILINE
    )
    assert len(stations) > 5
    assert [s for s in stations if not (SOURCES / f"{s}.py").is_file()] == []


# Where to find


def definitions(tree: ast.Module) -> set[str]:
    """Return the functions, classes and methods of a module, methods as `Class.method`."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (
                n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
            )
            found |= {f"{node.name}.{method.name}" for method in methods}
    return found


@pytest.mark.parametrize(
    ("file", "name"),
    [[code_words(cell)[0] for cell in row[1:]] for row in table(CONTRIBUTING, "what")],
)
def test_things_are_where_the_list_says(file, name):
    assert name in definitions(ast.parse((ROOT / file).read_text(encoding="utf-8")))
