"""`asara bundle`: a zip file for the author of each entry of a run."""

from asara_server.cli.options.recorded_run import RunDirectoryArgument


def bundle(directory: RunDirectoryArgument) -> None:
    """Write a zip file for the author of each entry of a run.

    Each file in DIR/bundles contains the logs of one entry and the replays of its matches, and
    nothing that other bots printed. The run must have ended.
    """
    from asara_server.cli.sessions.bundle import write_bundles

    write_bundles(directory)
