"""`asara sidecar`: sample possible worlds and playouts for bots in any language."""

from asara_search.sidecar.command import sidecar as answer_requests


def sidecar() -> None:
    """Sample possible game states for a bot that looks ahead."""
    # `asara sidecar` without options of `asara` before it never gets here: see `cli.main`.
    answer_requests()
