"""The options of `asara tournament`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.errors import UserError
from asara_server.cli.options.sandbox import SandboxChoice
from asara_server.tournament.config.tournament_file import Tournament

FileArgument = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The tournament file.")]
ExplainOption = Annotated[
    bool,
    typer.Option(
        "--explain", help="Show every setting of the file instead, with its value and meaning."
    ),
]
PrecisionOption = Annotated[
    float | None,
    typer.Option(
        "--precision",
        metavar="SCORE",
        min=0.001,
        max=0.5,
        help="Show how many blocks (sets of matches with the same deal) are needed to estimate "
        "scores to within ±SCORE.",
    ),
]
PilotOption = Annotated[
    Path | None,
    typer.Option(
        "--pilot",
        metavar="DIR",
        help="With --precision: folder of a similar earlier run, from which to estimate how much "
        "results vary.",
    ),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="New or empty folder for the run; with --resume, the folder of the run to continue.",
    ),
]
KeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Private key that signs the replays; created if it does not exist.",
        show_default="asara/referee.key in the user's configuration folder",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        max=10_000,
        help="Number of matches to play in parallel.",
        show_default="`jobs` in the tournament file",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        max=1_000,
        help="Spread the matches over N worker processes, each with its own referee and one match "
        "at a time.",
        show_default="one referee for all matches",
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Spread the matches over a Dask cluster; ADDRESS is its scheduler, such as "
        "tcp://host:8786.",
    ),
]
MetricsOption = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="ADDRESS",
        help="Serve Prometheus metrics at host:port; port 0 picks a free port.",
    ),
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Continue a run that was stopped or killed.")
]
PrepareOption = Annotated[
    bool,
    typer.Option(
        "--prepare",
        help="Only write and sign the manifest (the schedule and all settings), so that you can "
        "publish it before the first match; start the matches later with --resume.",
    ),
]
InsecureRemoteOption = Annotated[
    bool,
    typer.Option(
        "--insecure-remote",
        help="Let other machines read the metrics and watch the matches, without encryption.",
    ),
]
RemoteOption = Annotated[
    bool,
    typer.Option("--remote", help="Wait for the bots on other machines, and check them as well."),
]


@dataclass(frozen=True, slots=True)
class ExecutorOptions:
    """The options --workers and --dask."""

    workers: int | None
    dask: str | None

    def check(self, tournament: Tournament, *, jobs: int | None, metrics: bool) -> None:
        """Raise UserError for options that conflict with each other or with the tournament."""
        given = [name for name in ("workers", "dask") if getattr(self, name) is not None]
        if not given:
            return
        option = f"--{given[0]}"
        if len(given) > 1:
            raise UserError("--workers is for this machine and --dask for a cluster; use one")
        if jobs is not None:
            raise UserError(f"--jobs is for a single referee; with {option}, remove it")
        if tournament.remote_entries:
            raise UserError(
                f"{option}: the bot of {tournament.remote_entries[0]} is on another machine and "
                f"connects to a single referee; remove {option}"
            )
        if metrics and self.dask is not None:
            raise UserError(
                "--metrics covers the referees of this machine, but with --dask every worker of "
                "the cluster has its own; remove one of the two options"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """The options of `asara tournament check`."""

    file: Path
    out_directory: Path | None
    """The folder for everything that is kept; None if nothing is kept."""
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
    """Maximum number of concurrent matches; None for the tournament file's setting."""
    executor: ExecutorOptions
    metrics: str | None
    web: str | None
    insecure_remote: bool
