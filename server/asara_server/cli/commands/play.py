"""`asara play`: a seat for a person, in a browser."""

import typer

from asara_server.cli.options.key import KeyOption
from asara_server.cli.options.match import RulesOption, SeedOption
from asara_server.cli.options.play import (
    BankOption,
    BotsArgument,
    BrowserOption,
    IncrementOption,
    ListenOption,
    MatchesOption,
    PeopleOption,
    PlayOptions,
    RemoteOption,
    SeatsOption,
)
from asara_server.cli.options.sandbox import (
    ReadableOption,
    SandboxChoice,
    SandboxOption,
    readable_paths,
)
from asara_server.cli.options.serve import ReplaysOption


def play(
    context: typer.Context,
    bots: BotsArgument = None,
    seats: SeatsOption = None,
    people: PeopleOption = 1,
    rules: RulesOption = "basic",
    matches: MatchesOption = 0,
    bank: BankOption = None,
    increment: IncrementOption = None,
    seed: SeedOption = None,
    replays: ReplaysOption = None,
    key: KeyOption = None,
    listen: ListenOption = "127.0.0.1:0",
    insecure_remote: RemoteOption = False,
    browser: BrowserOption = True,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    readable: ReadableOption = None,
) -> None:
    """Play against bots in a browser.

    Opens a page with a seat for you, and prints its link. Each link holds the token of its seat:
    give it to the person who plays there, and to nobody else. Ctrl-C ends the table.
    """
    from asara_server.cli.sessions.play import play_in_browser

    options = PlayOptions(
        bots=bots or [],
        seats=seats,
        people=people,
        rules=rules,
        matches=matches,
        listen=listen,
        insecure_remote=insecure_remote,
        bank=bank,
        increment=increment,
        seed=seed,
        replays=replays,
        key=key,
        sandbox=sandbox,
        readable=readable_paths(readable),
        browser=browser,
    )
    raise typer.Exit(play_in_browser(options, context.obj))
