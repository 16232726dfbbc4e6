"""The `asara` command line. It parses, calls and prints; what it calls does the work."""

import os
import sys
from collections.abc import Sequence


def main(words: Sequence[str] | None = None) -> None:
    """Run the command that `words` or else the command line names, and exit.

    What a user can do something about is said in lines on standard error, without a traceback.
    """
    # Bots are started by a fork that an exec follows at once. gRPC would warn about it; it reads
    # this when it is imported.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
    # It would also tell of every stranger who dials an address of TLS in another way.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    from asara_server.cli.app import app
    from asara_server.cli.errors import UserError

    try:
        app(words, prog_name="asara")
    except UserError as error:
        for line in str(error).splitlines():
            print(f"asara: {line}", file=sys.stderr)
        sys.exit(error.status)
