"""The terminal: standard output and standard error, and tables.

Everything that a command prints for people passes through this module. So no text from a bot, a
file or a name can control the terminal: hidden characters are replaced by their codes, and text is
never interpreted as markup.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from asara_server.text import plain, plain_lines


class _Terminal(Console):
    """A console that makes all texts plain, whoever wrote them."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def print(
        self, *objects: Any, lead: str = "", soft_wrap: bool | None = None, **settings: Any
    ) -> None:
        """Break a text between words only, so that paths and hashes stay whole.

        All lines after the first begin with `lead`. A no-break space is printed as a space.
        """
        whole = soft_wrap or "end" in settings  # a prompt has another end
        if whole or len(objects) != 1 or not isinstance(objects[0], str | Text):
            super().print(*objects, soft_wrap=soft_wrap, crop=False, **settings)
            return
        text = Text(plain_lines(objects[0])) if isinstance(objects[0], str) else objects[0]
        for line in text.split(allow_blank=True):
            for part in _broken(line, self.width, lead):
                super().print(part, soft_wrap=True, **settings)

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

_QUOTE: Final = "  | "
"""Beginning of the lines that a program printed."""

_GAP: Final = 2
"""Characters between two columns of a table."""

_quiet = False


def be_quiet() -> None:
    """From now on, print neither notices nor progress."""
    global _quiet  # noqa: PLW0603 - one terminal, one command
    _quiet = True


def shows_progress() -> bool:
    """Return True if progress is shown in place, on a terminal."""
    return err.is_terminal and not _quiet


def notify(text: str, *, words: bool = True) -> None:
    """Print a notice to standard error; see `warn`. One that contains a command has no `words`."""
    if not _quiet:
        _print(err, Text(plain_lines(text)), words=words)


def show_line(line: str | Text, *, indent: int = 0) -> None:
    """Print a line to standard output.

    On a terminal, it is broken between words, and what follows is indented.
    """
    _print(out, Text(plain(line, None)) if isinstance(line, str) else line, " " * indent)


def show_quoted(lines: Iterable[str], *, warning: bool = False) -> None:
    """Print what a program printed to standard output, or as a warning; every line is marked."""
    console, style = (err, "yellow") if warning else (out, "")
    for line in lines:
        _print(console, Text(_QUOTE + plain(line, None), style=style), _QUOTE)


def warn(text: str, *, indent: int = 0, words: bool = True) -> None:
    """Print a warning to standard error, indented by `indent` characters.

    On a terminal, it is broken between words, or anywhere if the text does not consist of `words`.
    """
    for line in plain_lines(text).split("\n"):
        _print(err, Text(" " * indent + line, style="yellow"), " " * indent, words=words)


def _print(console: _Terminal, line: Text, lead: str = "", *, words: bool = True) -> None:
    console.print(line, lead=lead, soft_wrap=not (words and console.is_terminal))


def _broken(line: Text, width: int, lead: str) -> Iterator[Text]:
    """Yield the parts of a line, broken between words; all but the first part begin with `lead`.

    A word that is wider than `width`, such as a path, stays whole.
    """
    indent = len(lead)
    width, used = max(width, 2 * indent), 0
    breaks = []
    for word in re.finditer(" *[^ ]+", line.plain):
        cells = cell_len(word[0])
        if used and used + cells > width:
            breaks.append(word.end() - len(word[0].lstrip()))
            used, cells = indent, cell_len(word[0].lstrip())
        used += cells
    first, *rest = line.divide(breaks)
    for part in (first, *(Text(lead, line.style, overflow="ignore") + part for part in rest)):
        part.rstrip()
        yield part


def show_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table with its title to standard output; see `make_table`."""
    _print(out, Text(plain(title, None), style="bold"))
    out.print(make_table(columns, rows))


class _Table(Table):
    """A table that breaks cells between words only.

    If its words are too wide, it lists the cells of each row, one per line.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = [[str(column.header), *map(str, column.cells)] for column in self.columns]
        least = [max(map(cell_len, " ".join(cells).split()), default=0) for cells in columns]
        room = options.max_width - _GAP * (len(columns) - 1)
        if sum(least) > room:
            yield from _lists(columns, options.max_width)
            return
        widths = [max(map(cell_len, cells)) for cells in columns]
        while sum(widths) > room:
            slack = [width > low for width, low in zip(widths, least, strict=True)]
            widths[max(range(len(widths)), key=lambda at: slack[at] * widths[at])] -= 1
        for column, width in zip(self.columns, widths, strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)


def _lists(columns: Sequence[Sequence[str]], width: int) -> Iterator[Text]:
    """Yield the lines of a table whose rows are lists; each column begins with its name."""
    names, *rows = zip(*columns, strict=True)
    indent = max(map(cell_len, names)) + _GAP
    for number, row in enumerate(rows):
        if number:
            yield Text()
        for name, cell in zip(names, row, strict=True):
            if cell:
                blanks = " " * (indent - cell_len(name))
                line = Text.assemble((name, "bold"), blanks, cell, overflow="ignore")
                yield from _broken(line, width, " " * indent)


def make_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Return a table; columns whose names begin with `>` are aligned to the right."""
    table = _Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(plain(cell, None) for cell in row))
    return table
