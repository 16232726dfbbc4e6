"""`asara sidecar`: worlds and playouts for bots in any language."""

import os
from typing import Annotated

import typer

from asara_search.sidecar.command import sidecar as answer_requests


def sidecar(
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Seed of requests that have none.",
            show_default="ASARA_SEED, or random",
        ),
    ] = None,
) -> None:
    """Answer questions of a bot that looks ahead.

    The bot starts it, writes one line of JSON per request and reads one line per request.
    """
    # `asara sidecar` without options of `asara` before it never gets here: see `cli.main`.
    answer_requests(os.environ.get("ASARA_SEED") if seed is None else seed)
