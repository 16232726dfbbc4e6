"""The `asara` command line. It parses, calls and prints; what it calls does the work."""

import sys


def main() -> None:
    """Entry point: runs the command, and says in one line what a user can do about an error."""
    from asara_server.cli.app import app
    from asara_server.cli.errors import UserError

    try:
        app(prog_name="asara")
    except UserError as error:
        for line in str(error).splitlines():
            print(f"asara: {line}", file=sys.stderr)
        sys.exit(error.status)
