"""The drawings of the architecture, and the list of places to find things, match the code."""

import ast
import builtins
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs.documents import ROOT, code_words, drawing, table

SERVER = "server/README.md"
PACKAGES = ROOT / "server"
HOUSE = PACKAGES / "asara_server"
CONTRIBUTING = "CONTRIBUTING.md"


def sources(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the parsed Python files of a folder, with paths relative to `server/`."""
    for file in sorted(folder.rglob("*.py")):
        yield file.relative_to(PACKAGES), ast.parse(file.read_text(encoding="utf-8"))


def folders(folder: Path) -> set[str]:
    """Return the names of the Python folders in a folder."""
    return {path.name for path in folder.iterdir() if any(path.glob("*.py"))}


# Layers


def drawn_layers() -> list[set[str]]:
    columns = [re.split(r" {2,}", line)[1] for line in drawing(SERVER, "Layers").splitlines()]
    layers = [set(column.split(" | ")) for column in columns]
    return [layer for layer in layers if layer <= folders(HOUSE)]


def test_layers_are_those_of_the_contract():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (c for c in config["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    named = [
        {re.sub(r"[() ]|asara_server\.", "", name) for name in re.split("[|:]", layer)}
        for layer in contract["layers"]
    ]
    existing = [layer & folders(HOUSE) for layer in named]
    assert drawn_layers() == [layer for layer in existing if layer]


def test_every_folder_is_in_a_layer():
    assert set().union(*drawn_layers()) == folders(HOUSE)


# Rooms


def drawn_rooms() -> dict[str, int]:
    """Return the line of each room's title."""
    lines = enumerate(drawing(SERVER, "Rooms").splitlines())
    return {title: number for number, line in lines for title in re.findall(r"┌─ (\w+) ─", line)}


def room(parts: tuple[str, ...]) -> str | None:
    """Return the room of a module of `asara_server`; None for the modules at its root."""
    inner = [part for part in parts[:2] if part in drawn_rooms()]
    return (inner[-1] if parts[0] == "tournament" else inner[0]) if inner else None


def imports(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """Yield the modules of `asara_server` that a module imports, as parts of their names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            package, *parts = node.module.split(".")
            if package == "asara_server":
                yield from ((*parts, alias.name) for alias in node.names)


def test_every_folder_is_a_room():
    assert drawn_rooms().keys() == folders(HOUSE) | folders(HOUSE / "tournament")


def test_imports_point_downwards():
    rooms = drawn_rooms()
    upward = []
    for path, tree in sources(HOUSE):
        importer = room(path.with_suffix("").parts[1:])
        for parts in imports(tree):
            imported = room(parts)
            apart = importer and imported and importer != imported
            if apart and rooms[importer] >= rooms[imported]:
                upward.append(f"{path} imports {'.'.join(parts)}")
    assert upward == []


# The life of a reply


def test_stations_of_a_reply_are_modules():
    stations = re.findall(
        r"^[ ├─▶]*(\w+/\w+)", drawing(SERVER, "The life of a reply"), re.MULTILINE
    )
    assert len(stations) > 5
    assert [s for s in stations if not (HOUSE / f"{s}.py").is_file()] == []


# Exceptions


class Failure(NamedTuple):
    """An exception class, with the name of its parent and the folder that defines it."""

    name: str
    parent: str
    folder: str


def defined_failures() -> set[Failure]:
    """Return the public exceptions of all packages in `server/`."""
    classes = [
        Failure(node.name, base.id, path.parent.as_posix())
        for path, tree in sources(PACKAGES)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if isinstance(base, ast.Name)
    ]
    known = {
        name
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    found: set[Failure] = set()
    while new := {c for c in classes if c.parent in known and c not in found}:
        found |= new
        known |= {failure.name for failure in new}
    return {failure for failure in found if not failure.name.startswith("_")}


def drawn_failures() -> set[Failure]:
    """Return the exceptions of the drawing; a level of the tree is four characters wide."""
    path: list[str] = []
    drawn = set()
    for line in drawing(SERVER, "Exceptions").splitlines():
        branch, name, folder = re.findall(r"^([│├└─ ]*)(\w+) *(\S*)", line)[0]
        depth = len(branch) // 4
        path[depth:] = [name]
        if folder:
            drawn.add(Failure(name, path[depth - 1], folder))
    return drawn


def test_exceptions_are_drawn_with_their_parents_and_folders():
    assert drawn_failures() == defined_failures()


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
