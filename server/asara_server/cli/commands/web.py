"""`asara web`: show runs and their matches in a browser."""

from asara_server.cli.options.web import (
    ChildOption,
    DirectoriesArgument,
    EmbedOption,
    HostOption,
    ListenOption,
    PlayOption,
    RemoteOption,
    WebOptions,
)


def web(
    directories: DirectoriesArgument = None,
    listen: ListenOption = "127.0.0.1:8080",
    host: HostOption = None,
    embed: EmbedOption = None,
    insecure_remote: RemoteOption = False,
    child: ChildOption = False,
    play: PlayOption = None,
) -> None:
    """Show runs and their matches in a browser.

    Only reads the files in DIR, so you can use it at any time, even during a run. Press Ctrl-C
    to stop.
    """
    from asara_server.cli.sessions.web import serve_web

    serve_web(
        WebOptions(
            directories=tuple(directories or ()),
            listen=listen,
            insecure_remote=insecure_remote,
            hosts=tuple(host or ()),
            embed=tuple(embed or ()),
            child=child,
            play=play,
        )
    )
