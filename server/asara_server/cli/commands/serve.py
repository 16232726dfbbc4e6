"""`asara serve`: a referee for bots that people start by hand."""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.errors import UserError
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.log import log_to_terminal
from asara_server.cli.options.match import (
    BANK_S,
    INCREMENT_S,
    Bank,
    Increment,
    Key,
    Rules,
    Seed,
    rule_sets,
    signing_key,
)
from asara_server.cli.options.metrics import Metrics, serving_metrics
from asara_server.cli.options.sandbox import SandboxChoice, SandboxOption, chosen_sandbox
from asara_server.event_loop import run
from asara_server.match.spec import ClockSettings
from asara_server.replay.signing import PUBLIC_KEY_FILE, default_key_path


def serve(
    context: typer.Context,
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS", help="host:port (port 0: a free one) or unix:/path.")
    ] = "127.0.0.1:50051",
    seats: Annotated[int, typer.Option(metavar="N", min=2, max=4, help="At the table.")] = 2,
    opponent: Annotated[
        list[str] | None,
        typer.Option(metavar="BOT", help="Fill a seat with a bot, as for `match`; repeatable."),
    ] = None,
    rules: Rules = "basic",
    matches: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many; 0: until stopped.")
    ] = 1,
    seed: Seed = None,
    bank: Bank = BANK_S,
    increment: Increment = INCREMENT_S,
    replays: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Leave a replay of each match there.")
    ] = None,
    key: Key = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate chain (PEM).")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key (PEM).")] = None,
    insecure_remote: Annotated[
        bool, typer.Option("--insecure-remote", help="Let other machines in without TLS.")
    ] = False,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    metrics: Metrics = None,
) -> None:
    """Referee bots that you start yourself.

    It prints what to put before the command of a bot for each open seat, waits until all have
    dialled in, and plays. Ctrl-C or SIGTERM stops it in good order.
    """
    from asara_server.cli.serve_session import Guest, ReplaySink, ServeSettings, TableServer
    from asara_server.network.tls import TlsFiles

    log_to_terminal(context.obj, quiet="warning")
    opponents = find_bots(opponent or [])
    if len(opponents) >= seats:
        raise UserError(f"{len(opponents)} opponents leave no open seat of {seats}; raise --seats")
    if any(bot.name.startswith("guest-") for bot in opponents):
        raise UserError("an opponent cannot be called guest-…: that is what open seats are called")
    if (tls_cert is None) != (tls_key is None):
        raise UserError("TLS needs both --tls-cert and --tls-key")
    contained = None
    if opponents:
        secret = [path for path in (key or default_key_path(), tls_key, replays) if path]
        contained = chosen_sandbox(sandbox, secret=secret, shared=Path.cwd())
    sink = None
    if replays is not None:
        signer = signing_key(key)
        _make_folder(replays)
        (replays / PUBLIC_KEY_FILE).write_bytes(signer.public_pem)
        sink = ReplaySink(replays, signer)
    settings = ServeSettings(
        listen=listen,
        tls=TlsFiles(tls_cert, tls_key) if tls_cert and tls_key else None,
        insecure_remote=insecure_remote,
        guests=tuple(
            Guest(f"guest-{number}", secrets.token_urlsafe(24))
            for number in range(1, seats - len(opponents) + 1)
        ),
        opponents=tuple(opponents),
        rule_sets=rule_sets(rules),
        matches=matches or None,
        clocks=ClockSettings(bank_s=bank, increment_s=increment),
        seed=seed or secrets.token_hex(32),
        replays=sink,
        sandbox=contained,
    )
    with serving_metrics(metrics, insecure_remote=insecure_remote) as watch:
        host = TableServer(settings)
        watch(host.referee)
        status = run(host.run())
    raise typer.Exit(status)


def _make_folder(path: Path) -> None:
    """A folder for replays. Names of matches begin anew every time: old ones stay safe."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--replays {path}: {error.strerror}") from None
    if any(path.glob("*.asara")):
        raise UserError(f"--replays {path}: holds replays already; name another directory")
