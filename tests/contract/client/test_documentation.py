"""Texts about the interface that an author sees in an editor and in help()."""

import ast
import inspect
import pydoc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import EnumDescriptor

import asara
from asara.v1 import event_pb2, play_pb2, view_pb2, vocabulary_pb2, watch_pb2


def docstrings(body: list[ast.stmt], outer: str = "") -> Iterator[tuple[str, str]]:
    """Yield the classes of a stub and their attributes, with the text that an editor shows."""
    for position, node in enumerate(body):
        if isinstance(node, ast.ClassDef):
            yield outer + node.name, ast.get_docstring(node) or ""
            yield from docstrings(node.body, f"{outer}{node.name}.")
        elif isinstance(node, ast.AnnAssign) and position + 1 < len(body):
            match body[position + 1]:
                case ast.Expr(ast.Constant(str(text))):
                    yield outer + ast.unparse(node.target), text


def members(file: Any) -> Iterator[str]:
    """Yield messages with their fields, and enums with their values."""
    containers = [*file.message_types_by_name.values(), *file.enum_types_by_name.values()]
    for one in containers:
        yield one.name
        parts = one.values if isinstance(one, EnumDescriptor) else one.fields
        yield from (f"{one.name}.{part.name}" for part in parts)


@pytest.mark.parametrize("module", [event_pb2, play_pb2, view_pb2, vocabulary_pb2, watch_pb2])
def test_an_editor_shows_what_every_message_field_and_value_means(module: Any) -> None:
    shown = dict(docstrings(ast.parse(Path(module.__file__ + "i").read_text()).body))
    assert [name for name in members(module.DESCRIPTOR) if not shown.get(name)] == []


def test_the_text_in_the_editor_is_the_comment_of_the_protocol() -> None:
    stub = ast.parse(Path(play_pb2.__file__ + "i").read_text())
    assert (ast.get_docstring(stub) or "").startswith("The protocol between bots and the referee.")
    shown = dict(docstrings(stub.body))
    assert shown["Decision"] == "A decision for this seat."
    assert shown["Decision.legal_actions"] == (
        "All legal actions, at least two; any of them may be sent back unchanged."
    )
    assert shown["DecisionKind.DECISION_KIND_WISH"] == "The space whose move to wish for, if any."


def test_help_lists_what_a_bot_can_use_of_its_match() -> None:
    page = pydoc.plain(pydoc.render_doc(asara.Match))
    attributes = {
        *("match_id", "seat", "seats", "entry", "rule_sets", "edition", "clocks", "limits"),
        *("view", "random", "random_action", "started", "digest", "events", "messages"),
    }
    assert {name for name in dir(asara.Match) if not name.startswith("_")} == attributes
    for name in attributes:
        member = getattr(asara.Match, name)
        text = inspect.getdoc(member)
        assert text
        title = f"{name}{inspect.signature(member)}" if callable(member) else name
        assert f" |  {title}\n |      {text.splitlines()[0]}" in page
