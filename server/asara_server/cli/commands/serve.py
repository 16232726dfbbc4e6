"""`asara serve`: referee bots that people start by hand."""

import typer

from asara_server.cli.options.key import KeyOption
from asara_server.cli.options.match import (
    BANK_S,
    INCREMENT_S,
    BankOption,
    IncrementOption,
    RulesOption,
    StrongSeedOption,
)
from asara_server.cli.options.metrics import MetricsOption
from asara_server.cli.options.sandbox import (
    ReadableOption,
    SandboxChoice,
    SandboxOption,
    readable_paths,
)
from asara_server.cli.options.serve import (
    InsecureRemoteOption,
    ListenOption,
    MatchesOption,
    OpponentOption,
    ReplaysOption,
    SeatsOption,
    ServeOptions,
    TlsCertOption,
    TlsKeyOption,
)
from asara_server.cli.options.web import WebOption


def serve(
    context: typer.Context,
    listen: ListenOption = "127.0.0.1:50051",
    seats: SeatsOption = 2,
    opponent: OpponentOption = None,
    rules: RulesOption = "basic",
    matches: MatchesOption = 1,
    seed: StrongSeedOption = None,
    bank: BankOption = BANK_S,
    increment: IncrementOption = INCREMENT_S,
    replays: ReplaysOption = None,
    key: KeyOption = None,
    tls_cert: TlsCertOption = None,
    tls_key: TlsKeyOption = None,
    insecure_remote: InsecureRemoteOption = False,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    readable: ReadableOption = None,
    metrics: MetricsOption = None,
    web: WebOption = None,
) -> None:
    """Referee bots that you start yourself.

    Prints, for each open seat, the environment variables to put before the command of a bot. Plays
    as soon as all bots have dialled in. Ctrl-C or SIGTERM stops after the open decisions.
    """
    from asara_server.cli.sessions.serve import serve_table

    options = ServeOptions(
        listen=listen,
        seats=seats,
        opponents=opponent or [],
        rules=rules,
        matches=matches,
        seed=seed,
        bank=bank,
        increment=increment,
        replays=replays,
        key=key,
        tls_cert=tls_cert,
        tls_key=tls_key,
        insecure_remote=insecure_remote,
        sandbox=sandbox,
        readable=readable_paths(readable),
        metrics=metrics,
        web=web,
    )
    raise typer.Exit(serve_table(options, context.obj))
