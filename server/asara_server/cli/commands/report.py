"""`asara report`: write a report on a run as an HTML page, and its tables as CSV."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.options.run_directory import RunDirectoryArgument

OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE.html",
        help="File to write.",
        show_default="DIR/report.html",
    ),
]
CsvOption = Annotated[
    Path | None,
    typer.Option("--csv", metavar="DIR", help="Also write the tables to DIR as CSV files."),
]


PagesOption = Annotated[
    bool,
    typer.Option(
        "--pages",
        help="Also write a page for every match, in a `pages` folder next to the report.",
    ),
]


def report(
    directory: RunDirectoryArgument,
    out_file: OutOption = None,
    csv: CsvOption = None,
    pages: PagesOption = False,
) -> None:
    """Write a report on a run as an HTML page.

    The page works offline. The run can be active, stopped or finished.
    """
    from asara_server.cli.sessions.exports import write_report

    write_report(directory, out_file, csv, with_pages=pages)
