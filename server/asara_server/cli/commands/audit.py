"""`asara audit`: verify tournaments and replays without trusting whoever made them."""

from pathlib import Path
from typing import Annotated

import typer

PathsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Folders of runs, or single replays."),
]
PublicKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--public-key",
        metavar="FILE|HEX",
        help="The referee's public key, as published by the organiser.",
        show_default="the key stored in the run, which does not prove who signed it",
    ),
]
ManifestOption = Annotated[
    str | None,
    typer.Option(
        "--manifest",
        metavar="HEX",
        help="Hash of the manifest, published before the first match.",
        show_default="not compared",
    ),
]
InclusionOption = Annotated[
    bool,
    typer.Option(
        "--inclusion",
        help="Check only that each replay belongs to its run; the run's other replays are not "
        "needed.",
    ),
]
ProofOption = Annotated[
    Path | None,
    typer.Option(
        "--proof",
        metavar="FILE",
        help="Proof for --inclusion, written by `asara replay prove`.",
        show_default="PATH.proof, the proof in a bundle, or the run that contains the replay",
    ),
]
LeaksOption = Annotated[
    bool,
    typer.Option(
        "--leaks", help="Also check that no bot received anything that is hidden from its seat."
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Number of replays to audit in parallel.",
        show_default="one per CPU core",
    ),
]


def audit(
    paths: PathsArgument,
    key: PublicKeyOption = None,
    manifest: ManifestOption = None,
    inclusion: InclusionOption = False,
    proof: ProofOption = None,
    leaks: LeaksOption = False,
    jobs: JobsOption = None,
) -> None:
    """Verify runs and replays by playing every match again.

    Compares the schedule, results, standings and all files of a run with its signed manifest.
    Lists everything that is missing, extra or changed, and what was not checked. The exit
    status is 0 if nothing is wrong, 1 if something is, and 3 if nothing is wrong but a run has no
    signed end, because it is active or was killed, or a replay in a bundle has no proof.
    """
    from asara_server.cli.sessions.audit import audit_inclusion, audit_paths, published

    held = published(key, manifest)
    if inclusion:
        raise typer.Exit(audit_inclusion(paths, proof, held, leaks=leaks))
    if proof is not None:
        raise typer.BadParameter("needs --inclusion", param_hint="--proof")
    raise typer.Exit(audit_paths(paths, held, leaks=leaks, jobs=jobs))
