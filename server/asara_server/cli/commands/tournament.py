"""`asara tournament`: plan and run."""

import shutil
from contextlib import ExitStack
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from asara_game.rules import format_rule_sets
from asara_server.cli.display.console import (
    count,
    duration,
    out,
    say,
    show_standings,
    show_table,
    warn_of_faults,
)
from asara_server.cli.errors import UserError
from asara_server.cli.options.executor import (
    ExecutorChoice,
    ExecutorOption,
    ExecutorOptions,
    Scheduler,
    WorkerCount,
    chosen_executor,
)
from asara_server.cli.options.match import Key, signing_key
from asara_server.cli.options.metrics import Metrics, serving_metrics
from asara_server.cli.options.sandbox import SandboxChoice, SandboxOption, chosen_sandbox
from asara_server.network.addresses import ServeError
from asara_server.replay.signing import default_key_path
from asara_server.tournament.config.tournament_file import ConfigError, Tournament, load_tournament
from asara_server.tournament.schedule.estimate import MOST_MATCHES, Estimate, estimate
from asara_server.tournament.schedule.plan import planned_matches
from asara_server.tournament.schedule.schedule import Span, balance


class DurabilityChoice(Enum):
    NORMAL = "normal"
    FULL = "full"


app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The tournament file.")]


@app.command()
def plan(
    file: File,
    decision_ms: Annotated[
        float, typer.Option(metavar="MS", min=0, help="Milliseconds a bot is assumed to decide in.")
    ] = 1.0,
) -> None:
    """Show how many matches there are, and how long they may take. Plays nothing."""
    tournament = _load(file)
    expected = estimate(tournament, decision_ms / 1000)
    _refuse_too_many(expected, file)
    balances = {
        seats: balance(
            len(tournament.entries),
            seats,
            rounds=tournament.rounds,
            blocks_per_entry=tournament.blocks_per_entry,
        )
        for seats in tournament.seats
    }
    rows = [
        (
            format_rule_sets(kind.rule_sets),
            str(kind.seats),
            f"{kind.blocks:,}",
            f"{kind.matches:,}",
            _span(balances[kind.seats].blocks_per_entry),
            _span(balances[kind.seats].meetings_per_pair),
        )
        for kind in expected.kinds
    ]
    if len(rows) > 1:
        rows.append(("all", "", f"{expected.blocks:,}", f"{expected.matches:,}", "", ""))
    show_table(
        _heading(tournament, expected.matches, f"{tournament.concurrency} at once"),
        ("rules", ">seats", ">blocks", ">matches", ">blocks per entry", ">meetings per pair"),
        rows,
    )
    out.print(f"\n{_block_words(tournament)}")
    out.print(f"About {duration(expected.likely_s)} if a bot decides in {decision_ms:g} ms.")
    out.print(f"At most {duration(expected.longest_s)}, if all bots used up their clocks.")


@app.command()
def run(
    context: typer.Context,
    file: File,
    out_directory: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the run is kept; new or empty.")
    ],
    key: Key = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete the run that DIR holds first.")
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the run in DIR, which was stopped or killed."),
    ] = False,
    durability: Annotated[
        DurabilityChoice,
        typer.Option(
            help="What is played survives the death of this program; full: of the machine too."
        ),
    ] = DurabilityChoice.NORMAL,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    executor: ExecutorOption = ExecutorChoice.LOCAL,
    workers: WorkerCount = None,
    scheduler: Scheduler = None,
    metrics: Metrics = None,
    insecure_remote: Annotated[
        bool, typer.Option("--insecure-remote", help="Let other machines read the metrics.")
    ] = False,
) -> None:
    """Play a tournament; standings, replays and logs stay in DIR."""
    from asara_server.cli.run_session import new_run_directory, old_run_directory, play_run

    executor_options = ExecutorOptions(executor, workers, scheduler)
    tournament = _load(file)
    executor_options.check(tournament, metrics=metrics is not None)
    _refuse_too_many(estimate(tournament, 0), file)
    matches = planned_matches(tournament)
    if resume and replace:
        raise UserError("--resume goes on with a run, and --replace deletes it: choose one")
    signer = signing_key(key)
    _check_remote(tournament, file)
    contained = chosen_sandbox(
        sandbox,
        secret=[file, key or default_key_path(), *_remote_files(tournament)],
        shared=file.resolve().parent,
        transport=tournament.transport,
    )
    resumed = None
    with ExitStack() as stack:
        watch = stack.enter_context(serving_metrics(metrics, insecure_remote=insecure_remote))
        run_executor, at_once = stack.enter_context(
            chosen_executor(executor_options, tournament, contained, watch)
        )
        if resume:
            directory, resumed = stack.enter_context(
                old_run_directory(out_directory, file=file, key=signer, durability=durability.value)
            )
        else:
            directory = stack.enter_context(
                new_run_directory(out_directory, replace=replace, durability=durability.value)
            )
            shutil.copyfile(file, directory.tournament_file)
        say(_heading(tournament, len(matches), at_once))
        end, status = play_run(
            tournament,
            matches,
            directory,
            signer,
            context.obj,
            publish=True,
            resumed=resumed,
            sandbox=contained,
            executor=run_executor,
        )
    show_standings(end.standings)
    out.print()
    warn_of_faults(end, out_directory / "run.log")
    say(f"Standings, replays and logs are in {out_directory}")
    if not end.standings.complete:
        say("The same command with --resume goes on with this run.")
    raise typer.Exit(status)


def _heading(tournament: Tournament, matches: int, at_once: str) -> str:
    entries = count(len(tournament.entries), "entry")
    return f"{tournament.title}: {count(matches, 'match')} of {entries}, {at_once}"


def _span(span: Span) -> str:
    return f"{span.least:,}" if span.least == span.most else f"{span.least:,}–{span.most:,}"


def _block_words(tournament: Tournament) -> str:
    orders = "every rotation" if tournament.orders == "rotations" else "every order"
    deals = "one deal" if tournament.blocks == "mirrored" else "a new deal"
    text = f"A block plays {deals} in {orders} of its seats, so that seats are even."
    if tournament.blocks == "mirrored" and tournament.remote_entries:
        text += "\nIn blocks with an entry on another machine every match has a new deal."
    return text


def _load(file: Path) -> Tournament:
    try:
        return load_tournament(file)
    except ConfigError as error:
        raise UserError(str(error)) from None


def _check_remote(tournament: Tournament, file: Path) -> None:
    """See that bots on other machines can be let in, before anything is written."""
    if tournament.remote is None:
        return
    from asara_server.network.grpc_server import check_address
    from asara_server.tournament.execution.remote_lobby import tls_files

    try:
        check_address(tournament.remote.listen, tls_files(tournament.remote))
    except ServeError as error:
        raise UserError(f"{file.name}: remote: {error}") from None


def _remote_files(tournament: Tournament) -> tuple[Path, ...]:
    """What bots that are started here must not see."""
    remote = tournament.remote
    return () if remote is None else (remote.key, remote.tokens)


def _refuse_too_many(expected: Estimate, file: Path) -> None:
    if expected.matches > MOST_MATCHES:
        raise UserError(
            f"{file.name}: {expected.matches:,} matches are too many (at most {MOST_MATCHES:,}); "
            "set blocks_per_entry, or play fewer rounds, rule_sets or seats"
        )
