"""The terminal: standard output and standard error, and tables."""

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from asara_server.text import plain

out = Console(highlight=False)
"""Standard output: results, for people and pipes."""

err = Console(stderr=True, highlight=False)
"""Standard error: progress, notices and warnings."""


def notify(text: str) -> None:
    """Print a notice to standard error, unwrapped, so that paths stay whole in a pipe."""
    err.print(text, markup=False, soft_wrap=True)


def warn(text: str, *, indent: int = 0, words: bool = True) -> None:
    """Print a warning to standard error, indented by so many characters.

    A terminal breaks it between words, or anywhere if it does not consist of `words`.
    """
    line = Text(text, style="yellow")
    if words and err.is_terminal:
        err.print(Padding(line, (0, 0, 0, indent)))
    else:
        err.print(Text(" " * indent) + line, soft_wrap=True)


def show_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table under its title to standard output; see `make_table`."""
    out.print(plain(title, longest=None), style="bold", markup=False, soft_wrap=True)
    out.print(make_table(columns, rows))


def make_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Return a table; a column whose name begins with `>` is aligned to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(plain(cell, longest=None)) for cell in row))
    return table
