"""The `asara` command line: parses arguments, calls the other packages, and prints results."""

import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from textwrap import fill

from asara_server.text import plain


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command in `arguments`, by default those of the process, and exit.

    A UserError is printed to standard error, line by line, without a traceback. The same is done
    for an error of the system, such as a full disk.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"] and "--guide" not in words:
        words = [*words[1:], "--help"]
    if words[:1] == ["bridge"]:  # a bot: it starts quickly, and needs no extra
        from asara.bridge.command import main as bridge

        bridge(words[1:])
    if words[:1] == ["sidecar"]:  # also part of a bot
        from asara_search.sidecar.command import main as sidecar

        sidecar(words[1:])
    from asara_server.cli.shell import check_streams, discard_output
    from asara_server.user_error import UserError

    try:
        check_streams()
        try:
            if words[:1] in (["--version"], ["-V"]):  # needs no extra
                from asara_server.cli.version import version_line

                print(version_line())
            elif words[:1] == ["help"]:
                from asara_server.cli.display.examples import print_guide

                print_guide(" ".join(word for word in words[1:] if word != "--guide"))
            else:
                from asara_server.cli.app import app
                from asara_server.cli.usage_errors import UsageError, explain, is_help

                try:
                    sys.exit(app(words, prog_name="asara", standalone_mode=False))
                except UsageError as error:
                    if not is_help(error):
                        raise UserError(explain(error)) from None
                    print(error, file=sys.stderr)
                    sys.exit(2)
        finally:
            sys.stdout.flush()  # report a full disk as an error of the command, not at its exit
    except UserError as error:
        _print_error(str(error))
        sys.exit(error.status)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package.startswith("asara") or not package:
            raise
        from asara.installing import install_command

        _print_error(
            f"run {install_command('referee')}, which this command needs (missing: {package}); "
            "without it, there are `asara bridge`, `asara sidecar` and `asara --version`"
        )
        sys.exit(1)
    except OSError as error:
        discard_output()
        if error.filename or not isinstance(error, BrokenPipeError):  # `| head` has seen enough
            _print_error(f"{error.filename or 'standard output'}: {error.strerror or error}")
        sys.exit(1)


def _print_error(text: str) -> None:
    """Print an error. On a terminal, its lines are broken between words."""
    for line in text.splitlines():
        shown = f"asara: {plain(line, None)}"
        if sys.stderr.isatty():
            width = get_terminal_size().columns
            shown = fill(shown, width, break_long_words=False, break_on_hyphens=False)
        print(shown, file=sys.stderr)
