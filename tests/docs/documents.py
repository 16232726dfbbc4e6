"""Parse the documents of the checkout: blocks, tables, drawings."""

import re
import subprocess
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("bots", "clients", "proto", "scripts", "server", "tests")


def own_files(*patterns: str) -> list[str]:
    """Return the files of the checkout that fit patterns of git.

    Files that git ignores belong to others, such as the packages that a bot is built with.
    """
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns)
    listed = subprocess.check_output(command, cwd=ROOT, text=True).split("\0")
    return sorted(file for file in listed if (ROOT / file).is_file() and not file.startswith("."))


DOCUMENTS = own_files("*.md")


class Block(NamedTuple):
    """A fenced block, without its fences."""

    language: str
    content: str


def read(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document: str, *languages: str) -> list[Block]:
    """Return the fenced blocks in these languages, or all."""
    found = re.findall(r"^( *)```(\S*)\n(.*?)^\1```$", read(document), re.DOTALL | re.MULTILINE)
    return [
        Block(language, textwrap.dedent(content))
        for _, language, content in found
        if not languages or language in languages
    ]


def drawing(document: str, heading: str) -> str:
    """Return the only text block of the section with this heading."""
    _, _, rest = read(document).partition(f"## {heading}\n")
    section = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    (content,) = re.findall(r"^```text\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    return str(content)


def prose(document: str) -> str:
    """Return a document without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", read(document), flags=re.DOTALL | re.MULTILINE)


def code_words(text: str) -> list[str]:
    """Return the words in backticks."""
    return re.findall(r"`([^`]+)`", text)


def table(document: str, first: str) -> list[list[str]]:
    """Return the rows, without the head, of the first table whose head begins with this cell."""
    rows: list[list[str]] = []
    for line in prose(document).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if rows and not line.startswith("|"):
            break
        if rows or (line.startswith("|") and cells[0] == first):
            rows.append(cells)
    assert rows, f"{document}: no table begins with {first!r}"
    return rows[2:]


def first_words(document: str, first: str) -> set[str]:
    """Return the words in backticks in the first column of such a table."""
    return {word for row in table(document, first) for word in code_words(row[0])}
