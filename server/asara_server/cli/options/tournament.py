"""The options of `asara tournament`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.options.executor import ExecutorOptions
from asara_server.cli.options.sandbox import SandboxChoice

FileArgument = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The tournament file.")]
ExplainOption = Annotated[
    bool,
    typer.Option("--explain", help="Show every key of the file instead: its value and meaning."),
]
PrecisionOption = Annotated[
    float | None,
    typer.Option(
        "--precision",
        metavar="SCORE",
        min=0.001,
        max=0.5,
        help="Say how many blocks make intervals of the score as wide as plus or minus this.",
    ),
]
PilotOption = Annotated[
    Path | None,
    typer.Option(
        "--pilot",
        metavar="DIR",
        help="Run with blocks of the same kind, whose scores tell how much luck there is.",
    ),
]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", help="Run directory; must be new or empty.")
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Resume the stopped or killed run in DIR.")
]
PrepareOption = Annotated[
    bool,
    typer.Option(
        "--prepare", help="Only sign the manifest, to be published; --resume then begins the play."
    ),
]
InsecureRemoteOption = Annotated[
    bool,
    typer.Option(
        "--insecure-remote", help="Allow other machines to read the metrics and see the matches."
    ),
]


CheckOutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="DIR", help="Keep output and replays in DIR; must be new or empty."
    ),
]
RemoteOption = Annotated[
    bool,
    typer.Option("--remote", help="Wait for the bots on other machines, and check them too."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """The options of `asara tournament check`."""

    file: Path
    out_directory: Path | None
    """None if nothing is kept."""
    remote: bool
    sandbox: SandboxChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentOptions:
    """The options of `asara tournament run`."""

    file: Path
    out_directory: Path
    key: Path | None
    resume: bool
    prepare: bool
    sandbox: SandboxChoice
    jobs: int | None
    """Number of matches at the same time; None for that of the tournament file."""
    executor: ExecutorOptions
    metrics: str | None
    web: str | None
    insecure_remote: bool
