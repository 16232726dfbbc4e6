"""`asara audit`: verify tournaments and replays without trusting whoever made them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Verify runs and replays by playing every match again.

    Compares the schedule, results, standings and all files of a run with its signed manifest.
    Lists everything that is missing, extra or changed, and what was not checked. The exit
    status is 0 if nothing is wrong, 1 if something is, and 3 if nothing is wrong but a run has no
    signed end, because it is active or was killed, or a replay has no proof or another format.
    """

    session: ClassVar = "audit:audit"

    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Folders of runs, or single replays.")
    ]
    public_key: Annotated[
        Path | None,
        typer.Option(
            "--public-key",
            metavar="FILE|HEX",
            help="The referee's public key, as published by the organiser.",
            show_default="the key stored in the run, which does not prove who signed it",
        ),
    ] = None
    manifest: Annotated[
        str | None,
        typer.Option(
            "--manifest",
            metavar="HEX",
            help="Hash of the manifest, published before the first match.",
            show_default="not compared",
        ),
    ] = None
    inclusion: Annotated[
        bool,
        typer.Option(
            "--inclusion",
            help="Check only that each replay belongs to its run; the run's other replays are not "
            "needed.",
        ),
    ] = False
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof",
            metavar="FILE",
            help="Proof written by `asara replay prove`; implies --inclusion.",
            show_default="PATH.proof, the proof in a bundle, or the run that contains the replay",
        ),
    ] = None
    leaks: Annotated[
        bool,
        typer.Option(
            "--leaks",
            help="Also check that no bot received anything that is hidden from its seat.",
        ),
    ] = False
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            min=1,
            help="Number of replays to audit in parallel.",
            show_default="one per CPU core",
        ),
    ] = None
