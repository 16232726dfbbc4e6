"""The option `--metrics` of commands that have a referee."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from asara_server.cli.display.console import say
from asara_server.cli.errors import UserError

if TYPE_CHECKING:
    from asara_server.referee.referee import Referee

Metrics = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Serve metrics for Prometheus at host:port (port 0: a free one). [default: none]",
    ),
]


@contextmanager
def serving_metrics(
    address: str | None, *, insecure_remote: bool
) -> Iterator[Callable[["Referee"], None]]:
    """Serve metrics, if an address is given, of the referee that what it yields is called with."""
    if address is None:
        yield lambda referee: None
        return
    from asara_server.network.addresses import ServeError
    from asara_server.network.metrics import PATH, MetricsServer

    try:
        server = MetricsServer(address, allow_insecure_remote=insecure_remote)
    except ServeError as error:
        hint = " (--insecure-remote)" if "allow it expressly" in str(error) else ""
        raise UserError(f"--metrics: {error}{hint}") from None
    with closing(server):
        say(f"Metrics are at http://{server.address}{PATH}")
        yield server.watch
