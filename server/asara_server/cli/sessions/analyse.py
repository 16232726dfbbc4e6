"""Analyses replays and runs, writes the analyses, and prints what they say."""

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from asara_server.cli.commands.analyse import Analyse
from asara_server.cli.display.analyses import (
    print_analysis,
    print_changes,
    print_costly,
    print_dearest,
    print_entries,
    print_parts,
)
from asara_server.cli.display.console import err, notify, shows_progress, warn
from asara_server.cli.display.progress import LINE_INTERVAL_S
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import check_output, run_of, write_output, writing
from asara_server.cli.sessions.signals import live_with_parent
from asara_server.journal.replay import ReplayError
from asara_server.process_pool import map_in_processes
from asara_server.replay.analysis import actions_in, analyse
from asara_server.replay.analysis_file import (
    SUFFIX,
    Analysis,
    AnalysisError,
    analysis_bytes,
    read_analysis,
)
from asara_server.replay.file import parse_replay, read_file
from asara_server.replay.losses import Analysed, brief
from asara_server.replay.unfinished_analysis import (
    UnfinishedAnalysis,
    check_not_held,
    unfinished_path,
)
from asara_server.text import count
from asara_server.tournament.run.directory import ANALYSIS
from asara_server.tournament.run.read_run import read_ended_run
from asara_server.tournament.standings.match_result import MatchResult, by_schedule
from asara_server.user_error import UserError

_DECISIVE: Final = 3
"""Number of decisions that decided a match, also on the page."""


class Job(NamedTuple):
    """A replay to analyse, and where to write the analysis."""

    replay: Path
    target: Path
    budget: str
    rule_sets: str = ""
    entry: str | None = None
    """The entry of a run whose own dearest decisions are kept; None keeps those of all."""

    @property
    def unfinished(self) -> Path:
        """The file of an analysis that was interrupted."""
        return unfinished_path(self.target, self.budget)


class Done(NamedTuple):
    """The summary of a match's analysis, None if it failed, and a warning to print, "" if none."""

    found: Analysed | None
    warning: str


def analyse_path(options: Analyse, _log: LogOptions) -> None:
    """Analyse a replay or a run, and print what was found; raises UserError."""
    if options.child:
        live_with_parent()
    path = options.path
    try:
        if path.is_dir():
            _analyse_run(path, options)
        else:
            _analyse_replay(path, options)
    except KeyboardInterrupt:
        notify("Stopped. To continue, repeat the command.")
        raise


def _analyse_replay(path: Path, options: Analyse) -> None:
    if (options.entry, options.matches, options.against) != (None, None, None):
        raise UserError(f"{path}: --entry, --matches and --against need the folder of a run")
    try:
        total = actions_in(parse_replay(read_file(path)))
        target = _target(path)
        job = Job(path, target, options.budget)
        check_not_held(job.unfinished)
        if job.unfinished.exists():
            notify("Continuing the analysis of this match.")
        with _progress("action", total, LINE_INTERVAL_S) as advance:
            found, ignored = _do(job, advance)
    except ReplayError as error:
        raise UserError(f"{path}: {error}") from None
    if ignored:
        warn(ignored)
    print_analysis(found)
    notify(f"The whole analysis: {target}")
    page = shlex.join(["asara", "replay", "page", str(path), "--out", f"{path.stem}.html"])
    notify(f"To see it with the match: {page}", words=False)


def print_decisive(replay: Path) -> None:
    """Print the decisions that decided a match, if it has been analysed."""
    found = read_analysis(analysis_path(replay), read_file(replay))
    if found is not None:
        print_costly(found, _DECISIVE)


def _analyse_run(run: Path, options: Analyse) -> None:
    entry, earlier = options.entry, options.against
    if earlier is None:
        found = _analysed(run, _matches(run, entry)[: options.matches], options)
        known = [one for one in found if one is not None]
        print_entries(known)
    elif entry is None:
        raise UserError("--against compares two versions of one entry; add --entry NAME")
    else:
        before, now = _shared(earlier, run, entry, options.matches)
        pairs = zip(_analysed(earlier, before, options), _analysed(run, now, options), strict=True)
        both = [(old, new) for old, new in pairs if old is not None and new is not None]
        if not both:
            raise UserError(f"{run} and {earlier}: no match could be analysed in both runs")
        known = [new for _, new in both]
        print_changes(entry, earlier, both)
    if entry is not None:
        print_parts(entry, known)
    print_dearest(known, run, _argument)


def _argument(entry: str) -> str:
    """Return the argument that names an entry's bot, if it is in the current folder or built in."""
    for argument in (entry, f"{entry}.py"):
        try:
            (bot,) = find_bots([argument])
        except UserError:
            continue
        if bot.name == entry:
            return shlex.quote(argument)
    return "BOT"


def _analysed(run: Path, matches: Sequence[MatchResult], options: Analyse) -> list[Analysed | None]:
    """Analyse matches of a run; None for a replay that cannot be analysed. Raises UserError."""
    folder = _folder(run)
    jobs = [
        Job(
            _replay_of(run, match),
            folder / f"{match.played_as}{SUFFIX}",
            options.budget,
            match.rule_sets,
            options.entry,
        )
        for match in matches
    ]
    found: list[Analysed | None] = []
    for job in jobs:
        check_not_held(job.unfinished)
    whole = sum(job.target.exists() for job in jobs)
    begun = sum(job.unfinished.exists() and not job.target.exists() for job in jobs)
    if whole or begun:
        partly = f", and {begun:,} in part" if begun else ""
        notify(f"Continuing: analyses of {whole:,} of {count(len(jobs), 'match')} exist{partly}.")
    with _progress("match", len(jobs)) as advance:
        for done in _in_parallel(jobs, options.jobs):
            advance()
            if done.warning:
                warn(done.warning)
            found.append(done.found)
    if not any(found):
        raise UserError(f"{run}: none of the replays can be analysed")
    notify(f"The whole analyses: {folder}")
    return found


@contextmanager
def _progress(unit: str, total: int, interval_s: float = 0.0) -> Iterator[Callable[[], None]]:
    """Show how many units are over, and yield the function to call after each.

    Without a terminal, a line is printed at the start and after a unit, at most every `interval_s`
    seconds. A bar shows no estimate of the time left: the units take very different times.
    """
    units = count(total, unit)
    done = TextColumn(f"{{task.completed:,.0f}} of {units}")
    columns = ("Analysing", BarColumn(), done, TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not shows_progress()) as bar:
        task = bar.add_task("", total=total)
        printed_s = time.monotonic()
        if not shows_progress():
            notify(f"Analysing {units}")

        def advance() -> None:
            nonlocal printed_s
            bar.advance(task)
            if not shows_progress() and time.monotonic() - printed_s >= interval_s:
                printed_s = time.monotonic()
                notify(f"{int(bar.tasks[task].completed):,} of {units}")

        yield advance


def _matches(run: Path, entry: str | None) -> list[MatchResult]:
    """Return the matches of a run, or of an entry, in schedule order; raises UserError."""
    recorded = read_ended_run(run)
    if entry is not None and entry not in recorded.info.entries:
        entries = ", ".join(recorded.info.entries)
        raise UserError(f"{run}: --entry {entry}: the entries are {entries}")
    matches = [
        result
        for result in by_schedule(recorded.results)
        if not result.void and (entry is None or any(seat.entry == entry for seat in result.seats))
    ]
    if not matches:
        raise UserError(f"{run}: there are no matches to analyse")
    return matches


def _replay_of(run: Path, match: MatchResult) -> Path:
    return run / "replays" / f"{match.played_as}.asara"


def _shared(
    before: Path, now: Path, entry: str, most: int | None
) -> tuple[list[MatchResult], list[MatchResult]]:
    """Return the matches that an entry played in both runs: with the same deal, and the same
    entries in the same seats. Raises UserError if there are none.
    """
    earlier = {
        table: match for match in _matches(before, entry) if (table := _table(before, match))
    }
    pairs = [
        (earlier[table], match)
        for match in _matches(now, entry)
        if (table := _table(now, match)) in earlier
    ][:most]
    if not pairs:
        raise UserError(
            f"{now} and {before} have no deal in common that {entry} played in the same seat and "
            "against the same entries; play both runs with the same --seed"
        )
    return [match for match, _ in pairs], [match for _, match in pairs]


def _table(run: Path, match: MatchResult) -> tuple[object, ...] | None:
    """Return what two matches have in common if only the bots differ; None without a replay."""
    try:
        header = parse_replay(read_file(_replay_of(run, match))).header
    except ReplayError:
        return None
    deal = (header.deal_secret, header.nonces, header.edition, header.rule_sets)
    return *deal, header.entries


def _in_parallel(jobs: Sequence[Job], processes: int) -> Iterator[Done]:
    """Yield the outcomes in the order of the jobs."""
    if processes == 1:
        yield from map(_do_briefly, jobs)
        return
    yield from map_in_processes(_do_briefly, jobs, min(processes, len(jobs)), 1)


def _do_briefly(job: Job) -> Done:
    try:
        found, ignored = _do(job, lambda: None)
    except ReplayError as error:
        return Done(None, f"skipped: {job.replay}: {error}")
    return Done(brief(found, job.rule_sets, job.entry), ignored)


def _do(job: Job, progress: Callable[[], None]) -> tuple[Analysis, str]:
    """Return the analysis of a replay, made and written if there is none, and a warning about files
    that existed and were ignored, "" if none. Raises ReplayError, and UserError if it cannot write.
    """
    ignored = []
    data = read_file(job.replay)
    try:
        found = read_analysis(job.target, data)
    except AnalysisError as error:
        ignored.append(f"{job.target}: ignored: {error}")
        found = None
    part = job.unfinished
    if found is None or found.budget != job.budget:
        with (
            writing(part, "make its folder writable, then repeat the command"),
            closing(UnfinishedAnalysis(part, data, job.budget)) as unfinished,
        ):
            if unfinished.damaged:
                ignored.append(
                    f"{part}: ignored from line {unfinished.damaged} on: damaged, or from the "
                    "analysis of another replay or by another version of the program"
                )
            found = analyse(data, job.budget, progress, unfinished)
        write_output(job.target, analysis_bytes(found))
    part.unlink(missing_ok=True)
    return found, "\n".join(ignored)


def analysis_path(replay: Path) -> Path:
    """Return the path of a replay's analysis: next to it, or in the folder of its run."""
    name = replay.name.removesuffix(".asara") + SUFFIX
    run = run_of(replay)
    return replay.with_name(name) if run is None else run / ANALYSIS / name


def _target(replay: Path) -> Path:
    target = analysis_path(replay)
    if (run := run_of(replay)) is not None:
        _folder(run)
    else:
        check_output("analysis", target, inputs=[replay])
    return target


def _folder(run: Path) -> Path:
    """Return the folder of a run's analyses, which is made if it does not exist."""
    folder = run / ANALYSIS
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be created: {error.strerror}", status=1) from None
    return folder
