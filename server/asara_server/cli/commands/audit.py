"""`asara audit`: verify tournaments and replays without trusting whoever made them."""

from pathlib import Path
from typing import Annotated

import typer

PathsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Run directories, and replays by themselves."),
]
PublicKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="The referee's public key, as the organiser published it.",
        show_default="the key in the run, which is not trusted",
    ),
]
ManifestOption = Annotated[
    str | None,
    typer.Option(
        "--manifest",
        metavar="HEX",
        help="The hash of the manifest, published before the first match.",
        show_default="not compared",
    ),
]
InclusionOption = Annotated[
    bool,
    typer.Option(
        "--inclusion",
        help="Prove that each replay belongs to a run, whose other replays are not needed.",
    ),
]
ProofOption = Annotated[
    Path | None,
    typer.Option(
        "--proof",
        metavar="FILE",
        help="Proof for --inclusion, made by `asara replay prove`.",
        show_default="PATH.proof, that in a bundle, or the run that the replay lies in",
    ),
]
LeaksOption = Annotated[
    bool,
    typer.Option("--leaks", help="Also check that no seat received what it must not know."),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Number of replays to audit at the same time, one process each.",
        show_default="one per usable core, if there are enough replays",
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
    """Verify runs and replays by deriving everything again.

    Plays every match again, and compares schedule, results, standings and all files of a run with
    its signed manifest. Names everything that is missing, extra or changed, and what was not
    checked. The exit status is 0 only if nothing is wrong, and 3 if that is so but a run has
    no signed end.
    """
    from asara_server.cli.sessions.audit import audit_inclusion, audit_paths, published

    held = published(key, manifest)
    if inclusion:
        raise typer.Exit(audit_inclusion(paths, proof, held, leaks=leaks))
    if proof is not None:
        raise typer.BadParameter("is for --inclusion; add it", param_hint="--proof")
    raise typer.Exit(audit_paths(paths, held, leaks=leaks, jobs=jobs))
