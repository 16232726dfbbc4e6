"""`asara serve`: referee a match between bots that people start by hand."""

import typer

from asara_server.cli.options.match import USUAL_CLOCK, ClockOption, RulesOption
from asara_server.cli.options.sandbox import SandboxChoice, SandboxOption
from asara_server.cli.options.serve import (
    InsecureRemoteOption,
    ListenOption,
    MatchesOption,
    OpponentsArgument,
    ReplayFolderOption,
    SeatsOption,
    SeedOption,
    ServeOptions,
    TlsCertOption,
    TlsKeyOption,
)
from asara_server.cli.options.web import WebOption


def serve(
    context: typer.Context,
    bots: OpponentsArgument = None,
    listen: ListenOption = "127.0.0.1:50051",
    seats: SeatsOption = 2,
    rules: RulesOption = "basic",
    matches: MatchesOption = 1,
    seed: SeedOption = None,
    clock: ClockOption = USUAL_CLOCK,
    out_directory: ReplayFolderOption = None,
    tls_cert: TlsCertOption = None,
    tls_key: TlsKeyOption = None,
    insecure_remote: InsecureRemoteOption = False,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    web: WebOption = None,
) -> None:
    """Referee a match between bots that you start yourself.

    For each free seat, prints the environment variables that your bot needs. The match begins
    when all bots have connected. Press Ctrl-C to stop.
    """
    from asara_server.cli.sessions.serve import serve_table

    options = ServeOptions(
        listen=listen,
        seats=seats,
        opponents=bots or [],
        rules=rules,
        matches=matches,
        seed=seed,
        clock=clock,
        out_directory=out_directory,
        tls_cert=tls_cert,
        tls_key=tls_key,
        insecure_remote=insecure_remote,
        sandbox=sandbox,
        web=web,
    )
    raise typer.Exit(serve_table(options, context.obj))
