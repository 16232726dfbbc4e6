"""The terminal: standard output and standard error, and tables.

Everything that a command prints for people passes through this module. So no text from a bot, a
file or a name can control the terminal: hidden characters are replaced by their codes, and text is
never interpreted as markup.
"""

import re
from collections.abc import Iterable
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from asara_server.text import plain, plain_lines


class _Terminal(Console):
    """A console that makes all texts plain, whoever wrote them."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **settings: Any) -> Text:
        """Make a text plain before its width is measured."""
        return super().render_str(plain_lines(text), **settings)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Make plain any text that did not pass `render_str`; control codes are rich's own."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=plain_lines(segment.text))


out = _Terminal()
"""Standard output: results, for people and pipes."""

err = _Terminal(stderr=True)
"""Standard error: progress, notices and warnings."""


_quiet = False


def be_quiet() -> None:
    """From now on, print neither notices nor progress."""
    global _quiet  # noqa: PLW0603 - one terminal, one command
    _quiet = True


def shows_progress() -> bool:
    """Return True if progress is shown in place, on a terminal."""
    return err.is_terminal and not _quiet


def notify(text: str, *, words: bool = False) -> None:
    """Print a notice to standard error, unwrapped, so that paths and commands are not broken.

    On a terminal, a notice that consists of `words` is broken between them.
    """
    if not _quiet:
        err.print(text, soft_wrap=not (words and err.is_terminal))


def show_line(text: str, *, words: bool = True) -> None:
    """Print a line to standard output; on a terminal, one of `words` is broken between them."""
    out.print(plain(text, None), soft_wrap=not (words and out.is_terminal))


def show_hanging(line: Text, indent: int) -> None:
    """Print a line to standard output; on a terminal, break it between words, and indent what
    follows by `indent` characters.

    A word that is wider than the terminal, such as a path, stays whole.
    """
    if not out.is_terminal:
        out.print(line, soft_wrap=True)
        return
    width, used = max(out.width, indent + 20), 0
    breaks = []
    for word in re.finditer(r"\s*\S+", line.plain):
        cells = cell_len(word[0])
        if used and used + cells > width:
            breaks.append(word.end() - len(word[0].lstrip()))
            used, cells = indent, cell_len(word[0].lstrip())
        used += cells
    first, *rest = line.divide(breaks)
    for part in (first, *(Text(" " * indent) + part for part in rest)):
        part.rstrip()
        out.print(part, soft_wrap=True)


def warn(text: str, *, indent: int = 0, words: bool = True) -> None:
    """Print a warning to standard error, indented by `indent` characters.

    On a terminal, it is broken between words, or anywhere if the text does not consist of `words`.
    """
    line = Text(plain_lines(text), style="yellow")
    if words and err.is_terminal:
        err.print(Padding(line, (0, 0, 0, indent)))
    else:
        err.print(Text(" " * indent) + line, soft_wrap=True)


def show_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table with its title to standard output; see `make_table`."""
    out.print(plain(title, None), style="bold", soft_wrap=True)
    out.print(make_table(columns, rows))


class _Table(Table):
    """A table that lists the cells of each row one per line if its words are too wide."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.__rich_measure__(console, options).minimum <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        for row in zip(*(column.cells for column in self.columns), strict=True):
            cells = Table.grid(Column(style="bold"), Column(overflow="fold"), padding=(0, 2, 0, 0))
            for column, cell in zip(self.columns, row, strict=True):
                if cell:
                    cells.add_row(column.header, cell)
            yield cells
            yield Text()


def make_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Return a table; columns whose names begin with `>` are aligned to the right."""
    table = _Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(plain(cell, None) for cell in row))
    return table
