"""Analyses replays, and writes and prints what was found."""

import math
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from rich.progress import Progress

from asara_server.cli.commands.analyse import Analyse
from asara_server.cli.display.console import err, notify, out, show_table, shows_progress, warn
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import check_output, run_of, write_output
from asara_server.eventlog.replay import ReplayError
from asara_server.replay.analysis import actions_in, analyse
from asara_server.replay.analysis_file import (
    SUFFIX,
    Analysis,
    AnalysisError,
    Decision,
    SeatSum,
    Value,
    analysis_bytes,
    read_analysis,
)
from asara_server.replay.file import parse_replay, read_file
from asara_server.text import count
from asara_server.tournament.run.directory import ANALYSIS
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.standings.standings import by_schedule
from asara_server.tournament.trust.audit import map_in_processes
from asara_server.user_error import UserError

_DEAREST = 10
"""Maximum number of decisions listed."""
_NINETY_FIVE = 1.96


class Job(NamedTuple):
    """A replay to analyse, and where to write the analysis."""

    replay: Path
    target: Path
    budget: str


class Done(NamedTuple):
    """The outcome of a job: an analysis, or why there is none."""

    replay: Path
    analysis: Analysis | None
    fault: str = ""
    ignored: str = ""
    """Why an analysis that existed was not used."""


def analyse_path(options: Analyse, _log: LogOptions) -> None:
    """Analyse a replay or a run, and print what was found; raises UserError."""
    path = options.path
    if path.is_dir():
        _analyse_run(path, options)
        return
    if options.entry is not None or options.matches is not None:
        raise UserError(f"{path}: --entry and --matches choose matches of a run; pass its folder")
    try:
        total = actions_in(parse_replay(read_file(path)))
    except ReplayError as error:
        raise UserError(f"{path}: {error}") from None
    target = _target(path)
    with Progress(console=err, transient=True, disable=not shows_progress()) as bar:
        task = bar.add_task("Analysing", total=total)
        done = _do(Job(path, target, options.budget), lambda: bar.advance(task))
    if done.ignored:
        warn(done.ignored)
    if done.analysis is None:
        raise UserError(f"{path}: {done.fault}")
    print_analysis(done.analysis)
    notify(f"The whole analysis: {target}")


def _analyse_run(run: Path, options: Analyse) -> None:
    names = _match_names(run, options)
    folder = _folder(run)
    jobs = [
        Job(run / "replays" / f"{name}.asara", folder / f"{name}{SUFFIX}", options.budget)
        for name in names
    ]
    found: list[Analysis] = []
    with Progress(console=err, transient=True, disable=not shows_progress()) as bar:
        task = bar.add_task("Analysing", total=len(jobs))
        for number, done in enumerate(_in_parallel(jobs, options.jobs), 1):
            bar.advance(task)
            if not shows_progress():
                notify(f"{number:,} of {count(len(jobs), 'match')}")
            if done.ignored:
                warn(done.ignored)
            if done.analysis is None:
                warn(f"skipped: {done.replay}: {done.fault}")
            else:
                found.append(done.analysis)
    if not found:
        raise UserError(f"{run}: none of the replays can be analysed")
    print_analyses(found, run)
    notify(f"The whole analyses: {folder}")


def _match_names(run: Path, options: Analyse) -> list[str]:
    """Return the names of the chosen matches; raises UserError."""
    recorded = read_run(run)
    if recorded.info.state in {"prepared", "running"}:
        raise UserError(
            f"{run}: this run has not ended, and its deals are secret until then; wait for the end"
        )
    entry = options.entry
    if entry is not None and entry not in recorded.info.entries:
        raise UserError(f"--entry {entry}: the entries are {', '.join(recorded.info.entries)}")
    names = [
        result.played_as
        for result in by_schedule(recorded.results)
        if not result.void and (entry is None or any(seat.entry == entry for seat in result.seats))
    ]
    if not names:
        raise UserError(f"{run}: there are no matches to analyse")
    return names[: options.matches]


def _in_parallel(jobs: Sequence[Job], processes: int) -> Iterator[Done]:
    """Yield the outcomes in the order of the jobs, without the cheaper decisions."""
    if processes == 1:
        yield from map(_do_briefly, jobs)
        return
    yield from map_in_processes(_do_briefly, jobs, min(processes, len(jobs)), 1)


def _do_briefly(job: Job) -> Done:
    done = _do(job, lambda: None)
    if done.analysis is None:
        return done
    kept = {"decisions": tuple(dearest([done.analysis])), "draws": ()}
    return done._replace(analysis=done.analysis.model_copy(update=kept))


def _do(job: Job, progress: Callable[[], None]) -> Done:
    """Read an analysis that exists, or make it and write it."""
    ignored = ""
    try:
        data = read_file(job.replay)
        try:
            found = read_analysis(job.target, data)
        except AnalysisError as error:
            ignored = f"{job.target}: ignored: {error}"
            found = None
        if found is None or found.budget != job.budget:
            found = analyse(data, job.budget, progress)
            write_output(job.target, analysis_bytes(found))
    except ReplayError as error:
        return Done(job.replay, None, str(error), ignored)
    return Done(job.replay, found, "", ignored)


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


def print_analysis(found: Analysis) -> None:
    """Print the sums of each seat, and the dearest decisions of all seats."""
    show_table(
        f"Match {found.match_id}, in shares of a match (± 95 %)",
        (">seat", "entry", ">score", ">luck", ">without luck", ">lost by decisions"),
        map(_sums, found.seats),
    )
    out.print()
    for one in found.seats:
        out.print(_sentence(one), soft_wrap=True)
    costly = dearest([found])
    if costly:
        out.print()
        show_table(
            f"The {count(len(costly), 'decision')} that cost most",
            (">seat", ">decision", ">year", ">cost", "played", "better", "label"),
            map(_row, costly),
        )


def print_analyses(found: Sequence[Analysis], run: Path) -> None:
    """Print the mean sums of each entry, and the dearest decisions of all matches."""
    by_entry: dict[str, list[SeatSum]] = defaultdict(list)
    for analysis in found:
        for seat in analysis.seats:
            by_entry[seat.entry].append(seat)
    show_table(
        f"{count(len(found), 'match')}: means per match, in shares of a match (± 95 %)",
        ("entry", ">matches", ">score", ">luck", ">without luck", ">lost by decisions"),
        (_means(entry, sums) for entry, sums in by_entry.items()),
    )
    costly = [(one, analysis) for analysis in found for one in dearest([analysis])]
    costly.sort(key=lambda pair: -_cost(pair[0]))
    out.print()
    out.print("The decisions that cost most, each with the command that asks a bot again:")
    for one, analysis in costly[:_DEAREST]:
        assert one.loss is not None
        file = shlex.quote(str(run / "replays" / f"{analysis.match_id}.asara"))
        entry = analysis.seats[one.seat].entry
        out.print(
            f"  {entry}, year {one.year}: {one.chosen} cost {_interval(one.loss)}; "
            f"better: {one.best}\n"
            f"    asara replay ask {file} {one.decision} BOT --seat {one.seat}",
            soft_wrap=True,
        )


def dearest(found: Iterable[Analysis]) -> list[Decision]:
    """Return the decisions that cost most, the dearest first."""
    costly = [one for analysis in found for one in analysis.decisions if _cost(one) > 0]
    return sorted(costly, key=lambda one: -_cost(one))[:_DEAREST]


def _cost(one: Decision) -> float:
    return one.loss.mean if one.loss is not None else 0.0


def _means(entry: str, sums: Sequence[SeatSum]) -> tuple[str, ...]:
    number = len(sums)
    return (
        entry,
        str(number),
        f"{fmean(one.score for one in sums):.2f}",
        _mean_interval([one.luck.mean for one in sums], "+"),
        _mean_interval([one.score_after_luck for one in sums]),
        _mean_interval([one.skill_lost.mean for one in sums]),
    )


def _mean_interval(values: Sequence[float], sign: str = "") -> str:
    if len(values) < 2:
        return f"{values[0]:{sign}.2f}"
    error = stdev(values) / math.sqrt(len(values))
    return f"{fmean(values):{sign}.2f} ± {_NINETY_FIVE * error:.2f}"


def _sums(one: SeatSum) -> tuple[str, ...]:
    return (
        str(one.seat),
        one.entry,
        f"{one.score:.2f}",
        _interval(one.luck, sign="+"),
        f"{one.score_after_luck:.2f}",
        _interval(one.skill_lost),
    )


def _sentence(one: SeatSum) -> str:
    """Return one sentence about a seat's luck and its mistakes."""
    certain = abs(one.luck.mean) > _NINETY_FIVE * one.luck.error
    luck = ("lucky" if one.luck.mean > 0 else "unlucky") if certain else "neither lucky nor unlucky"
    labels = {"blunder": one.blunders, "mistake": one.mistakes, "inaccuracy": one.inaccuracies}
    made = [count(number, label) for label, number in labels.items() if number]
    mistakes = (
        " and ".join(filter(None, [", ".join(made[:-1]), *made[-1:]])) or "no certain mistake"
    )
    return f"Seat {one.seat} ({one.entry}) was {luck}, and made {mistakes}."


def _row(one: Decision) -> tuple[str, ...]:
    assert one.loss is not None
    cost = _interval(one.loss)
    return str(one.seat), str(one.decision), str(one.year), cost, one.chosen, one.best, one.label


def _interval(value: Value, sign: str = "") -> str:
    return f"{value.mean:{sign}.2f} ± {_NINETY_FIVE * value.error:.2f}"
