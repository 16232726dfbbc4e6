"""`asara play`: a seat for a person, in a browser."""

import typer

from asara_server.cli.options.match import RulesOption, SeedOption
from asara_server.cli.options.play import (
    BotsArgument,
    BrowserOption,
    ClockOption,
    PeopleOption,
    PlayOptions,
    RemoteOption,
)
from asara_server.cli.options.sandbox import SandboxChoice, SandboxOption
from asara_server.cli.options.serve import MatchesOption, ReplayFolderOption
from asara_server.cli.options.web import ListenOption


def play(
    context: typer.Context,
    bots: BotsArgument = None,
    people: PeopleOption = 1,
    rules: RulesOption = "basic",
    matches: MatchesOption = 0,
    clock: ClockOption = None,
    seed: SeedOption = None,
    out_directory: ReplayFolderOption = None,
    listen: ListenOption = "127.0.0.1:0",
    insecure_remote: RemoteOption = False,
    browser: BrowserOption = True,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
) -> None:
    """Play against bots in your browser.

    Opens a page with a seat for you, and prints its link. With --people, there is a link for
    each person. Anyone who has a link can take the seat it belongs to, so send each link only
    to the person it is for. Press Ctrl-C to stop.
    """
    from asara_server.cli.sessions.play import play_in_browser

    options = PlayOptions(
        bots=bots or [],
        people=people,
        rules=rules,
        matches=matches,
        listen=listen,
        insecure_remote=insecure_remote,
        clock=clock,
        seed=seed,
        out_directory=out_directory,
        sandbox=sandbox,
        browser=browser,
    )
    raise typer.Exit(play_in_browser(options, context.obj))
