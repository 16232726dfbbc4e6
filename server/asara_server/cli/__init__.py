"""The `asara` command line: it parses arguments, calls the other packages, and prints."""

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that `arguments`, or else the command line, names, and exit.

    A UserError is printed to standard error, line by line, without a traceback.
    """
    # gRPC reads both when it is imported. It would warn about the fork that starts a bot, although
    # an exec follows at once, and log every failed TLS handshake of a stranger.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    from asara_server.cli.app import app
    from asara_server.cli.errors import UserError

    try:
        app(arguments, prog_name="asara")
    except UserError as error:
        for line in str(error).splitlines():
            print(f"asara: {line}", file=sys.stderr)
        sys.exit(error.status)
