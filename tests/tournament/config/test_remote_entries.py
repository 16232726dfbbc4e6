"""Entries with a token in the tournament file: what goes with them, and what is said otherwise."""

import re
from pathlib import Path

import pytest

from asara_server.tournament.config.token_store import default_tokens_path, new_token, revoke_token
from asara_server.tournament.schedule.schedule import planned_matches
from tests.tournament.remote_bots import CERTIFICATE, remote_table
from tests.tournament.sample_bots import load_text, refusal_of
from tests.tournament.tables import pairs_of

HEAD = 'seats = 2\nrules = "basic"\n'
HERE = '[[entries]]\nname = "here"\ncommand = "python bot.py"\n'
FAR = '[[entries]]\nname = "far"\ntoken = "far token"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bot.py").touch()
    new_token(tmp_path / "tokens.json", "far token")
    return tmp_path


def refusal(folder: Path, text: str) -> str:
    return refusal_of(folder, text).removeprefix("cup.toml: ")


def test_an_entry_with_a_token_needs_no_command(folder: Path) -> None:
    tournament = load_text(folder, HEAD + remote_table() + HERE + FAR)
    here, far = tournament.entries
    assert (here.remote, here.token, here.command) == (False, "", ("python", "bot.py"))
    assert (far.remote, far.token, far.command) == (True, "far token", ())
    assert tournament.remote_entries == ("far",)
    assert tournament.remote is not None
    assert tournament.remote.tokens == folder / "tokens.json"
    assert tournament.remote.certificate == CERTIFICATE
    assert (tournament.remote.wait_s, tournament.remote.jobs_per_bot) == (600, 16)


def test_paths_are_relative_to_the_file_and_tokens_lie_beside_the_key(folder: Path) -> None:
    (folder / "cert.pem").write_bytes(CERTIFICATE.read_bytes())
    default_tokens_path().unlink(missing_ok=True)
    table = remote_table(certificate="cert.pem").replace("tokens = 'tokens.json'\n", "")
    said = refusal(folder, HEAD + table + HERE + FAR)
    assert f"asara token new 'far token' --file {default_tokens_path()}" in said
    new_token(default_tokens_path(), "far token")
    remote = load_text(folder, HEAD + table + HERE + FAR).remote
    assert remote is not None
    assert remote.certificate == folder / "cert.pem"
    assert remote.tokens == default_tokens_path()
    default_tokens_path().unlink()


REFUSED = r"""
REMOTE HERE FAR
command = "python bot.py"
    entry 2 'far': has a token, so its bot is not started here: remove either command or token
REMOTE HERE
[[entries]]
name = "far"
token = ""
    entry 2 'far': token: must have 1 to 40 characters, with single spaces inside only
REMOTE HERE
[[entries]]
name = "far"
token = "nobody"
    entry 2 'far': token: the token 'nobody' does not exist; make one with `asara token new nobody
    --file DIR/tokens.json`
REMOTE FAR
[[entries]]
name = "farther"
token = "far token"
    entry 2 'farther': token: 'far token' is the token of entry 1 'far'; give each entry its own
HERE
[[entries]]
name = "far"
    entry 2 'far': needs `command`, `bot` (for a built-in bot), `directory` (a folder with a
    bot.toml) or `token` (for a bot on another machine)
HERE FAR
    remote: is missing; give listen, certificate and key of the address where bots of entries with a
    token connect
REMOTE HERE
[[entries]]
name = "there"
command = "python bot.py"
    remote: no entry has a token, so no bot would connect; leave it out
[remote]
listen = "localhost:0"
HERE FAR
    remote.certificate: is missing
    | cup.toml: remote.key: is missing
"""
"""Tables of a file, of which some are constants of this module, and why it is refused."""


@pytest.mark.parametrize(("text", "message"), pairs_of(REFUSED))
def test_what_is_wrong_is_named_with_its_place(folder: Path, text: str, message: str) -> None:
    tables = {"REMOTE": remote_table(), "HERE": HERE, "FAR": FAR}
    text = re.sub(r"\b(REMOTE|HERE|FAR)\b *\n?", lambda word: tables[word[1]], text)
    assert refusal(folder, HEAD + text) == message


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"certificate": "none.pem", "key": "bot"},
            (
                "remote.certificate: 'DIR/none.pem' cannot be read: No such file or directory\n"
                "cup.toml: remote.key: 'DIR/bot' cannot be read: No such file or directory"
            ),
        ),
        (
            {"tokens": "~no-such-user/t"},
            "remote.tokens: '~no-such-user/t' names a user who does not exist",
        ),
        ({"key": "."}, "remote.key: 'DIR' is not a file"),
        (
            {"listen": "unix:/tmp/s"},
            "remote.listen: address 'unix:/tmp/s': write host:port, such as 127.0.0.1:7777",
        ),
        ({"jobs_per_bot": 0}, "remote.jobs_per_bot: must be at least 1, not 0"),
    ],
)
def test_what_is_wrong_with_the_address_is_named(
    folder: Path, settings: dict[str, object], message: str
) -> None:
    assert refusal(folder, HEAD + remote_table(**settings) + HERE + FAR) == message


def test_a_revoked_token_and_a_damaged_file_are_named(folder: Path) -> None:
    text = HEAD + remote_table() + HERE + FAR
    revoke_token(folder / "tokens.json", "far token")
    assert refusal(folder, text) == (
        "entry 2 'far': token: the token 'far token' was revoked; make one with "
        "`asara token new 'far token' --file DIR/tokens.json`"
    )
    (folder / "tokens.json").write_text("garbage")
    assert refusal(folder, text).startswith("remote.tokens: DIR/tokens.json: is not a token file (")
    assert (folder / "tokens.json").read_text() == "garbage"


def test_blocks_with_a_bot_from_elsewhere_are_never_mirrored(folder: Path) -> None:
    others = HERE + HERE.replace('"here"', '"there"')
    tournament = load_text(folder, HEAD + remote_table() + others + FAR)
    assert tournament.blocks == "mirrored"
    matches = planned_matches(tournament)
    assert {match.entries for match in matches if match.shared_deal} == {
        ("here", "there"),
        ("there", "here"),
    }
    assert sum("far" in match.entries for match in matches) == 4
    assert len({match.deal_block for match in matches}) == 3
