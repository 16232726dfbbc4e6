"""`asara bundle`: a zip file for the author of each entry of a run."""

from asara_server.cli.options.run_directory import RunDirectoryArgument


def bundle(directory: RunDirectoryArgument) -> None:
    """Write a zip file for the author of each entry.

    Each zip file in DIR/bundles contains one entry's output and the replays of its matches, but
    nothing that other bots printed. The run must be stopped or finished.
    """
    from asara_server.cli.sessions.exports import write_bundles

    write_bundles(directory)
