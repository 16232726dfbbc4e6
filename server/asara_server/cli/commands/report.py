"""`asara report`: write the report of a run as an HTML page, and its tables as CSV."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.options.recorded_run import RunDirectoryArgument

OutOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE.html",
        help="File of the page.",
        show_default="DIR/report.html",
    ),
]
CsvOption = Annotated[
    Path | None,
    typer.Option("--csv", metavar="DIR", help="Also write the tables to DIR as CSV files."),
]


PagesOption = Annotated[
    bool,
    typer.Option("--pages", help="Also write a page of every match, to `pages` beside the report."),
]


def report(
    directory: RunDirectoryArgument,
    out_file: OutOption = None,
    csv: CsvOption = None,
    pages: PagesOption = False,
) -> None:
    """Write the report of a run as an HTML page.

    The page needs no network. The run may be finished, stopped or active.
    """
    from asara_server.cli.sessions.report import write_report

    write_report(directory, out_file, csv, with_pages=pages)
