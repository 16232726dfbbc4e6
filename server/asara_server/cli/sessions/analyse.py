"""Analyses replays, and writes and prints what was found."""

import hashlib
from pathlib import Path

from rich.progress import Progress

from asara_server.cli.display.analysis import print_analysis
from asara_server.cli.display.console import err, notify, shows_progress
from asara_server.cli.errors import UserError
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.eventlog.replay import ReplayError
from asara_server.replay.analysis import analyse, decisions_in
from asara_server.replay.analysis_file import analysis_bytes, analysis_path
from asara_server.replay.file import parse_file, read_file


def analyse_file(path: Path, budget: str) -> None:
    """Analyse one replay, write the analysis next to it, and print it; raises UserError."""
    target = analysis_path(path)
    check_output("analysis", target, inputs=[path])
    try:
        data = read_file(path)
        file = parse_file(data)
        file.check_signature()
        total = decisions_in(file.replay)
        with Progress(console=err, transient=True, disable=not shows_progress()) as progress:
            task = progress.add_task("Analysing", total=total)
            digest = hashlib.sha256(data).hexdigest()
            found = analyse(file, digest, budget, lambda: progress.advance(task))
    except ReplayError as error:
        raise UserError(f"{path}: {error}") from None
    write_output(target, analysis_bytes(found))
    print_analysis(found)
    notify(f"Wrote the analysis to {target}")
