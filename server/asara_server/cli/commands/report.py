"""`asara report`: write a report on a run as an HTML page, and its tables as CSV."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from asara_server.cli.options.common import RunDirectoryArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Write a report on a run as an HTML page.

    The page works offline. The run can be active, stopped or finished.
    """

    session: ClassVar = "exports:write_report"

    directory: RunDirectoryArgument
    out_file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html",
            help="File to write.",
            show_default="DIR/report.html",
        ),
    ] = None
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="DIR", help="Also write the tables to DIR as CSV files."),
    ] = None
    pages: Annotated[
        bool,
        typer.Option(
            "--pages",
            help="Also write a page for every match, in a `pages` folder next to the report.",
        ),
    ] = False
