"""`asara token`: a token is shown once, and each error takes one line."""

from pathlib import Path

from asara_server.tournament.config.token_store import read_tokens, sha256_of
from tests.cli.command import asara


def test_a_token_is_made_listed_and_revoked(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    made = asara("token", "new", "ann", "--file", file, status=0)
    token = made.stdout.strip()
    assert token not in made.stderr
    assert [one.sha256 for one in read_tokens(file).tokens] == [sha256_of(token)]
    assert asara("token", "revoke", "ann", "--file", file).returncode == 0
    shown = asara("token", "list", "--file", file)
    name, created, _, revoked, _ = shown.stdout.splitlines()[-1].split()
    assert (name, created) == ("ann", revoked)
    assert token not in file.read_text() + shown.stdout
    assert sha256_of(token) not in shown.stdout
