"""`asara tournament`: plan and run tournaments."""

import shlex
from pathlib import Path

import typer

from asara_server.cli.display.console import notify, warn
from asara_server.cli.display.help_page import PlainCommand
from asara_server.cli.display.plan import show_plan
from asara_server.cli.errors import UserError
from asara_server.cli.options.run_directory import OutOption as KeptOption
from asara_server.cli.options.sandbox import SandboxChoice, SandboxOption
from asara_server.cli.options.tournament import (
    CheckOptions,
    DaskOption,
    ExecutorOptions,
    ExplainOption,
    FileArgument,
    InsecureRemoteOption,
    JobsOption,
    KeyOption,
    MetricsOption,
    OutOption,
    PilotOption,
    PrecisionOption,
    PrepareOption,
    RemoteOption,
    ResumeOption,
    TournamentOptions,
    WorkersOption,
)
from asara_server.cli.options.web import WebOption
from asara_server.tournament.config.tournament_file import ConfigError, Tournament, load_tournament
from asara_server.tournament.schedule.plan import MOST_MATCHES, Estimate, estimate

_HELP = """Plan, check and run tournaments.

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


@app.command(cls=PlainCommand)
def plan(
    file: FileArgument,
    explain: ExplainOption = False,
    precision: PrecisionOption = None,
    pilot: PilotOption = None,
) -> None:
    """Show the matches of a tournament and estimate its duration.

    No matches are played.
    """
    tournament, expected = _load(file)
    if explain and precision is not None:
        raise UserError("--explain and --precision show different things; use one of them")
    if explain:
        from asara_server.cli.display.explain import show_keys

        show_keys(tournament)
        return
    if pilot is not None and precision is None:
        raise UserError("--pilot is for --precision; give the precision as well")
    show_plan(tournament, expected)
    if precision is not None:
        from asara_server.cli.sessions.tournament import show_precision

        show_precision(tournament, precision, pilot)
    # These load the sandbox.
    from asara_server.cli.display.faults import warn_of_folders, warn_of_views
    from asara_server.tournament.sandbox.cgroups import WITHOUT_CGROUPS, Cgroups
    from asara_server.tournament.sandbox.spec import SandboxConfig

    if Cgroups.find() is None:
        warn(WITHOUT_CGROUPS)
    warn_of_folders(tournament)
    path = file.resolve()
    warn_of_views(tournament.entries, tournament.limits, SandboxConfig((path,), (path.parent,)))
    check = shlex.join(["asara", "tournament", "check", str(file)])
    notify(f"To see which bots work: {check}")


@app.command(cls=PlainCommand)
def check(
    context: typer.Context,
    file: FileArgument,
    out_directory: KeptOption = None,
    remote: RemoteOption = False,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
) -> None:
    """Build and test every entry, and show which ones work.

    Each entry plays two matches against the built-in bot `random`. Without --out, nothing is
    kept. The exit status is 1 if an entry is broken.
    """
    from asara_server.cli.sessions.entry_check import check_entries

    tournament, _ = _load(file)
    options = CheckOptions(file=file, out_directory=out_directory, remote=remote, sandbox=sandbox)
    raise typer.Exit(check_entries(tournament, options, context.obj))


@app.command(cls=PlainCommand)
def run(
    context: typer.Context,
    file: FileArgument,
    out_directory: OutOption,
    key: KeyOption = None,
    resume: ResumeOption = False,
    prepare: PrepareOption = False,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    jobs: JobsOption = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    metrics: MetricsOption = None,
    web: WebOption = None,
    insecure_remote: InsecureRemoteOption = False,
) -> None:
    """Run a tournament and keep its results, replays and bot output.

    Press Ctrl-C to stop. Repeat the command with --resume to continue.
    """
    from asara_server.cli.sessions.tournament import play_tournament

    tournament, _ = _load(file)
    options = TournamentOptions(
        file=file,
        out_directory=out_directory,
        key=key,
        resume=resume,
        prepare=prepare,
        sandbox=sandbox,
        jobs=jobs,
        executor=ExecutorOptions(workers, dask),
        metrics=metrics,
        web=web,
        insecure_remote=insecure_remote,
    )
    raise typer.Exit(play_tournament(tournament, options, context.obj))


def _load(file: Path) -> tuple[Tournament, Estimate]:
    """Return a tournament that is small enough to be listed, and its estimate."""
    try:
        tournament = load_tournament(file)
    except ConfigError as error:
        raise UserError(str(error)) from None
    expected = estimate(tournament)
    if expected.matches > MOST_MATCHES:
        raise UserError(
            f"{file.name}: {expected.matches:,} matches are too many (at most {MOST_MATCHES:,}); "
            "set blocks_per_entry, or reduce rounds, rules or seats"
        )
    return tournament, expected
