"""Shows the output of bots on the organiser's terminal while they play."""

import codecs

from rich.text import Text

from asara_server.cli.display.console import err
from asara_server.tournament.bots.output import OutputTap, clean_line

_LONGEST_LINE = 2_000  # characters


def show_output(entry: str) -> OutputTap:
    """Return a tap that prints the lines of one process to standard error, prefixed with the entry.

    Characters that control a terminal are removed. The process's log limits the amount.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    open_line = ""

    def show(data: bytes, *, last: bool = False) -> None:
        nonlocal open_line
        *lines, open_line = (open_line + decoder.decode(data, last)).split("\n")
        if last or len(open_line) > _LONGEST_LINE:
            lines.append(open_line)
            open_line = ""
            if not lines[-1]:
                lines.pop()
        for line in lines:
            err.print(Text.assemble((f"{entry} | ", "dim"), clean_line(line)), soft_wrap=True)

    return show
