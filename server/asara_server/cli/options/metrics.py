"""The option --metrics of the commands that run a referee."""

from typing import Annotated

import typer

MetricsOption = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="ADDRESS",
        help="Serve Prometheus metrics at host:port; port 0 picks a free port.",
    ),
]
