"""Adds the comments of the .proto files to the type stubs that protoc has generated from them.

    python scripts/lib/document_stubs.py DESCRIPTORS FOLDER

DESCRIPTORS is a serialized FileDescriptorSet with source information. The stubs in FOLDER get a
docstring for each file, message, field, enum and enum value, which editors show. protoc itself
copies no comments. Plugins that copy comments generate other enum types than protoc.
"""

import ast
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

_WIDTH = 100
_SYNTAX = (FileDescriptorProto.SYNTAX_FIELD_NUMBER,)
"""Path of the `syntax` line, whose comment describes the file."""


def documented(stub: str, file: FileDescriptorProto) -> str:
    """Return a file's stub, with the comments of the .proto file as docstrings."""
    texts = dict(comments(file))
    lines = stub.splitlines()
    inserted: dict[int, list[str]] = {0: [*_docstring(texts[()], ""), ""]}
    for position, names in _definitions(ast.parse(stub).body, ()):
        if names in texts:
            line = lines[position - 1]
            deeper = 4 if line.endswith(":") else 0
            indent = " " * (len(line) - len(line.lstrip()) + deeper)
            inserted[position] = _docstring(texts[names], indent)
    documented_lines = inserted[0]
    for position, line in enumerate(lines, 1):
        documented_lines += [line, *inserted.get(position, [])]
    return "\n".join(documented_lines) + "\n"


def _definitions(
    body: Sequence[ast.stmt], outer: tuple[str, ...]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield classes and their attributes: the line to document, and the nested names."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            names = (*outer, node.name)
            yield node.lineno, names
            yield from _definitions(node.body, names)
        elif outer and isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.lineno, (*outer, node.target.id)


def comments(file: FileDescriptorProto) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the comments of a file, each with the nested names it describes; () is the file."""
    by_path = {
        tuple(location.path): " ".join(location.leading_comments.split())
        for location in file.source_code_info.location
        if location.leading_comments
    }
    yield (), by_path[_SYNTAX]
    yield from _comments_within(file, (), (), by_path)


def _comments_within(
    container: Any, path: tuple[int, ...], names: tuple[str, ...], by_path: Mapping[Any, str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the comments of everything inside a file, message or enum."""
    for field, parts in container.ListFields():
        if field.name not in {"message_type", "nested_type", "enum_type", "field", "value"}:
            continue
        for index, part in enumerate(parts):
            inner, inner_names = (*path, field.number, index), (*names, part.name)
            if inner in by_path:
                yield inner_names, by_path[inner]
            yield from _comments_within(part, inner, inner_names, by_path)


def _docstring(text: str, indent: str) -> list[str]:
    quoted = f'"""{text}"""'
    lines = textwrap.wrap(quoted, _WIDTH - len(indent), break_on_hyphens=False)
    if len(lines) > 1:
        lines = [*textwrap.wrap(quoted[:-3], _WIDTH - len(indent), break_on_hyphens=False), '"""']
    return [indent + line for line in lines]


def main(descriptors: str, folder: str) -> None:
    files = FileDescriptorSet.FromString(Path(descriptors).read_bytes()).file
    for file in files:
        stub = Path(folder, file.name.replace(".proto", "_pb2.pyi"))
        stub.write_text(documented(stub.read_text(), file))


if __name__ == "__main__":
    main(*sys.argv[1:])
