"""Generates the protocol reference from the .proto files and their comments."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pb2 import FileDescriptorSet as FileSet
from grpc_tools import protoc

from scripts.lib.document_stubs import comments

_PROTOS: Final = Path(__file__).resolve().parents[3] / "proto"
_PACKAGE: Final = "asara.v1"
_FIRST: Final = ("play", "view", "event", "vocabulary")
"""Files that a client needs, in reading order; the other files follow."""


_HEAD: Final = """\
# Messages of the protocol

Every message and enum of `asara.v1`. To learn how they follow each other, read
[](/proto/README.md).
"""


def page() -> str:
    """Return the reference page, with a section for each file, message and enum."""
    files = sorted(_descriptors().file, key=_rank)
    return _HEAD + "".join(line for file in files for line in _file(file))


def _descriptors() -> FileSet:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "descriptors")
        protos = [str(path.relative_to(_PROTOS)) for path in _PROTOS.rglob("*.proto")]
        options = ["--include_source_info", f"--descriptor_set_out={out}"]
        status = protoc.main(["protoc", f"-I{_PROTOS}", *options, *sorted(protos)])
        assert status == 0, "protoc has printed why"
        return FileSet.FromString(out.read_bytes())


def _rank(file: FileDescriptorProto) -> tuple[int, str]:
    name = Path(file.name).stem
    return _FIRST.index(name) if name in _FIRST else len(_FIRST), name


def _file(file: FileDescriptorProto) -> Iterator[str]:
    about = dict(comments(file))
    yield f"\n## {Path(file.name).name}\n\n{about[()]}\n"
    for service in file.service:
        for method in service.method:
            sent, received = (_stream(method, way) for way in ("client", "server"))
            yield f"\n`{service.name}.{method.name}` takes {sent} and returns {received}.\n"
    for message in file.message_type:
        yield from _message(message, (message.name,), about)
    for enum in file.enum_type:
        yield from _enum(enum, (enum.name,), about)


def _stream(method: Any, way: str) -> str:
    name = _link(method.input_type if way == "client" else method.output_type)
    return f"a stream of {name}" if getattr(method, f"{way}_streaming") else name


def _message(message: Any, names: tuple[str, ...], about: dict[Any, str]) -> Iterator[str]:
    if message.options.map_entry:
        return
    yield f"\n### {'.'.join(names)}\n\n{about.get(names, '')}\n"
    if message.field:
        yield "\n{.stacked}\n| field | type | meaning |\n|---|---|---|\n"
    for field in message.field:
        yield f"| `{field.name}` = {field.number} | {_type(field, message)} | "
        yield f"{about.get((*names, field.name), '')} |\n"
    for inner in message.nested_type:
        yield from _message(inner, (*names, inner.name), about)
    for enum in message.enum_type:
        yield from _enum(enum, (*names, enum.name), about)


def _enum(enum: Any, names: tuple[str, ...], about: dict[Any, str]) -> Iterator[str]:
    yield f"\n### {'.'.join(names)}\n\n{about.get(names, '')}\n"
    yield "\n{.stacked}\n| value | meaning |\n|---|---|\n"
    for value in enum.value:
        meaning = about.get((*names, value.name), "")
        yield f"| `{value.name}` = {value.number} | {meaning} |\n"


def _type(field: FieldDescriptorProto, message: Any) -> str:
    """Return a field's type, with a link to the type's section."""
    name = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    shown = _link(field.type_name) if field.type_name else f"`{name}`"
    for entry in message.nested_type:
        if entry.options.map_entry and field.type_name.endswith(f".{entry.name}"):
            return f"map of {_type(entry.field[0], entry)} to {_type(entry.field[1], entry)}"
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        return f"list of {shown}"
    if field.proto3_optional:
        return f"{shown}, optional"
    if field.HasField("oneof_index"):
        return f"{shown}, one of `{message.oneof_decl[field.oneof_index].name}`"
    return shown


def _link(type_name: str) -> str:
    """Return a link to the section of a type. Types of other packages get no link."""
    name = type_name.removeprefix(f".{_PACKAGE}.")
    if name == type_name:
        return f"`{type_name.removeprefix('.')}`"
    return f"[{name}](#{name.replace('.', '').lower()})"
