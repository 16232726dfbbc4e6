"""`asara serve`: referee a match between bots that people start by hand."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from asara_server.cli.options.common import (
    USUAL_CLOCK,
    ClockOption,
    ReplayFolderOption,
    RulesOption,
    SandboxChoice,
    SandboxOption,
    TableMatchesOption,
    WebOption,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serve:
    """Referee a match between bots that you start yourself.

    For each free seat, prints the environment variables that your bot needs. The match begins
    when all bots have connected. Press Ctrl-C to stop.
    """

    session: ClassVar = "serve:serve_table"

    bots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOT",
            help="Bots for the referee to start, named as for `asara match`; your bots take the "
            "other seats.",
        ),
    ] = None
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            metavar="ADDRESS",
            help="Listen on host:port or unix:/path; port 0 picks a free port.",
        ),
    ] = "127.0.0.1:50051"
    seats: Annotated[
        int, typer.Option("--seats", metavar="N", min=2, max=4, help="Number of seats, 2 to 4.")
    ] = 2
    rules: RulesOption = "basic"
    matches: TableMatchesOption = 1
    seed: Annotated[
        str | None,
        typer.Option(
            "--seed",
            metavar="HEX",
            help="Secret from which the deals are derived: 64 hexadecimal digits. Generate them at "
            "random, so that no bot can guess the deals.",
            show_default="a new secret",
        ),
    ] = None
    clock: ClockOption = USUAL_CLOCK
    out_directory: ReplayFolderOption = None
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            "--tls-cert",
            metavar="FILE",
            help="PEM file containing the TLS certificate and its chain; needs --tls-key.",
        ),
    ] = None
    tls_key: Annotated[
        Path | None,
        typer.Option(
            "--tls-key", metavar="FILE", help="PEM file containing the certificate's private key."
        ),
    ] = None
    insecure_remote: Annotated[
        bool,
        typer.Option(
            "--insecure-remote",
            help="Let other machines connect and watch the matches, without encryption.",
        ),
    ] = False
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP
    web: WebOption = None
