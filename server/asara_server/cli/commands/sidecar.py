"""`asara sidecar`: sample possible worlds and playouts for bots in any language."""

from asara_search.sidecar.command import sidecar as answer_requests


def sidecar() -> None:
    """Sample possible game states for a bot that looks ahead."""
    # Only reached if options precede the command: `cli.main` handles plain `asara sidecar`.
    answer_requests()
