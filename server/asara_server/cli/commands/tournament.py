"""`asara tournament`: plan, check and run tournaments."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Final

import typer

from asara_server.cli.display.help_page import PlainCommand
from asara_server.cli.options.common import OutOption, SandboxChoice, SandboxOption, WebOption
from asara_server.tournament.config.fields import MOST_JOBS

_HELP: Final = """Plan, check and run tournaments.

A tournament file lists the entries. For example, cup.toml:

\b
  seats = 2
  rules = "basic"

\b
  [[entries]]
  directory = "my-bot"  # a folder that `asara new` created

\b
  [[entries]]
  name = "bob"
  directory = "bots/bob"
  command = "python main.py"  # for a folder without bot.toml

\b
  [[entries]]
  bot = "greedy"  # a built-in bot

`asara tournament plan cup.toml --explain` shows all settings.
"""

app = typer.Typer(help=_HELP, no_args_is_help=True, epilog="Guide: asara help --guide tournament")

FileArgument = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The tournament file.")]


@app.command(cls=PlainCommand)
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Show the matches of a tournament and estimate its duration.

    No matches are played.
    """

    session: ClassVar = "tournament:plan"

    file: FileArgument
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show every setting of the file instead, with its value and meaning.",
        ),
    ] = False
    precision: Annotated[
        float | None,
        typer.Option(
            "--precision",
            metavar="SCORE",
            min=0.001,
            max=0.5,
            help="Show how many blocks (sets of matches with the same deal) are needed to estimate "
            "scores to within ±SCORE.",
        ),
    ] = None
    pilot: Annotated[
        Path | None,
        typer.Option(
            "--pilot",
            metavar="DIR",
            help="With --precision: folder of a similar earlier run, from which to estimate how "
            "much results vary.",
        ),
    ] = None


@app.command(cls=PlainCommand)
@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Build and test every entry, and show which ones work.

    Each entry plays two matches against the built-in bot `random`. Without --out, nothing is
    kept. The exit status is 1 if an entry is broken.
    """

    session: ClassVar = "entry_check:check_entries"

    file: FileArgument
    out_directory: OutOption = None
    remote: Annotated[
        bool,
        typer.Option(
            "--remote", help="Wait for the bots on other machines, and check them as well."
        ),
    ] = False
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP


@app.command(cls=PlainCommand)
@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Run a tournament and keep its results, replays and bot output.

    Press Ctrl-C to stop. Repeat the command with --resume to continue.
    """

    session: ClassVar = "tournament:play_tournament"

    file: FileArgument
    out_directory: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="New or empty folder for the run; with --resume, the folder of the run to "
            "continue.",
        ),
    ]
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="Private key that signs the replays; created if it does not exist.",
            show_default="asara/referee.key in the user's configuration folder",
        ),
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a run that was stopped or killed.")
    ] = False
    prepare: Annotated[
        bool,
        typer.Option(
            "--prepare",
            help="Only write and sign the manifest (the schedule and all settings), so that you "
            "can publish it before the first match; start the matches later with --resume.",
        ),
    ] = False
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            min=1,
            max=MOST_JOBS,
            help="Number of matches to play in parallel.",
            show_default="`jobs` in the tournament file",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            max=1_000,
            help="Spread the matches over N worker processes, each with its own referee and one "
            "match at a time.",
            show_default="one referee for all matches",
        ),
    ] = None
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Spread the matches over a Dask cluster; ADDRESS is its scheduler, such as "
            "tcp://host:8786.",
        ),
    ] = None
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="ADDRESS",
            help="Serve Prometheus metrics at host:port; port 0 picks a free port.",
        ),
    ] = None
    web: WebOption = None
    insecure_remote: Annotated[
        bool,
        typer.Option(
            "--insecure-remote",
            help="Let other machines read the metrics and watch the matches, without encryption.",
        ),
    ] = False
