"""The options of `asara serve`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.options.match import Clock
from asara_server.cli.options.sandbox import SandboxChoice

ListenOption = Annotated[
    str,
    typer.Option(
        "--listen",
        metavar="ADDRESS",
        help="Listen on host:port or unix:/path; port 0 picks a free port.",
    ),
]
SeatsOption = Annotated[
    int, typer.Option("--seats", metavar="N", min=2, max=4, help="Number of seats, 2 to 4.")
]
OpponentsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="BOT",
        help="Bots for the referee to start, named as for `asara match`; your bots take the other "
        "seats.",
    ),
]
MatchesOption = Annotated[
    int,
    typer.Option("--matches", metavar="N", min=0, help="Number of matches; 0 means no limit."),
]
ReplayFolderOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Keep a replay of each match in DIR."),
]
SeedOption = Annotated[
    str | None,
    typer.Option(
        "--seed",
        metavar="HEX",
        help="Secret from which the deals are derived: 64 hexadecimal digits. Generate them at "
        "random, so that no bot can guess the deals.",
        show_default="a new secret",
    ),
]
TlsCertOption = Annotated[
    Path | None,
    typer.Option(
        "--tls-cert",
        metavar="FILE",
        help="PEM file containing the TLS certificate and its chain; needs --tls-key.",
    ),
]
TlsKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--tls-key", metavar="FILE", help="PEM file containing the certificate's private key."
    ),
]
InsecureRemoteOption = Annotated[
    bool,
    typer.Option(
        "--insecure-remote",
        help="Let other machines connect and watch the matches, without encryption.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    listen: str
    seats: int
    opponents: list[str]
    rules: str
    matches: int
    """Number of matches; 0 for an unlimited number."""
    seed: str | None
    clock: Clock
    out_directory: Path | None
    tls_cert: Path | None
    tls_key: Path | None
    insecure_remote: bool
    sandbox: SandboxChoice
    web: str | None
