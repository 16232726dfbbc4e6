"""Generates the command line reference: the help pages, with links to the guides."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import dedent
from typing import Any

import typer

from asara_server.cli.app import app
from asara_server.cli.display.examples import GUIDES


class _Markdown:
    """A click formatter that writes a command's help page as Markdown."""

    width = 10_000  # no line of a list of commands is shortened

    def __init__(self) -> None:
        self.buffer: list[str] = []

    def write(self, text: str) -> None:
        """Add lines unchanged, such as the commands of an example."""
        self.buffer.append(dedent(text))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        self.buffer.append(f"```text\n{prog} {args}\n```\n\n")

    def write_paragraph(self) -> None:
        self.buffer.append("\n")

    def write_text(self, text: str) -> None:
        self.buffer.append(f"{_escaped(text)}\n\n")

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None:
        for term, text in rows:
            self.buffer.append(f"`{term.strip()}`\n: {_escaped(text) or '–'}\n\n")

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Write the text below a heading. Examples are commands, so they become a code block."""
        self.buffer.append(f"\n**{name}**\n\n")
        if name != "Examples":
            yield
            return
        self.buffer.append("```text\n")
        yield
        self.buffer.append("```\n")

    @contextmanager
    def indentation(self) -> Iterator[None]:
        yield


def page() -> str:
    """Return the reference page, with a section for the program itself and one for each command."""
    root = typer.main.get_command(app)
    return "# Commands\n\n" + "".join(_sections(root, root.make_context("asara", [], **_UNPARSED)))


_UNPARSED: dict[str, Any] = {"resilient_parsing": True}


def _sections(command: Any, context: Any) -> Iterator[str]:
    formatter = _Markdown()
    command.format_help(context, formatter)
    text = re.sub(r"^ *Guide: .*\n?", "", "".join(formatter.buffer), flags=re.MULTILINE)
    yield f"\n## {context.command_path}\n\n{text}{_guide(context.command_path)}\n"
    for name in getattr(command, "commands", {}):
        member = command.commands[name]
        yield from _sections(member, member.make_context(name, [], parent=context, **_UNPARSED))


def _guide(path: str) -> str:
    """Return a link to a command's guide, or "" if there is no guide."""
    target = GUIDES.get(path.partition(" ")[2])
    if target is None:
        return ""
    document, _, heading = target.partition("#")
    anchor = f"#{heading.lower().replace(' ', '-')}" if heading else ""
    return f"\nGuide: [](/{document}{anchor})\n"


def _escaped(text: str) -> str:
    """Escape help text for Markdown, but leave anything that looks like code unchanged."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([\\*_<>\[\]])", r"\\\1", p) for p in parts)
