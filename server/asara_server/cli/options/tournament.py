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
    typer.Option(
        "--explain", help="Show every key of the file instead, with its value and meaning."
    ),
]
PrecisionOption = Annotated[
    float | None,
    typer.Option(
        "--precision",
        metavar="SCORE",
        min=0.001,
        max=0.5,
        help="Show how many blocks it takes to estimate scores to within plus or minus SCORE.",
    ),
]
PilotOption = Annotated[
    Path | None,
    typer.Option(
        "--pilot",
        metavar="DIR",
        help="With --precision: an earlier run of the same kind, which shows how results vary.",
    ),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Run folder, new or empty; with --resume, the folder of the run to continue.",
    ),
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Continue a run that was stopped or killed.")
]
PrepareOption = Annotated[
    bool,
    typer.Option(
        "--prepare",
        help="Only write and sign the manifest, so that you can publish it; --resume then plays.",
    ),
]
InsecureRemoteOption = Annotated[
    bool,
    typer.Option(
        "--insecure-remote",
        help="Let other machines read the metrics and watch the matches, without encryption.",
    ),
]


CheckOutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Keep output and replays in DIR, which must be new or empty.",
    ),
]
RemoteOption = Annotated[
    bool,
    typer.Option("--remote", help="Wait for the bots on other machines, and check them as well."),
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
