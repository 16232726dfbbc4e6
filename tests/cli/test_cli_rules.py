from importlib.metadata import version

import pytest

from asara_game.edition import load_edition
from tests.cli.command import asara, asara_process


def test_the_version_is_the_packages() -> None:
    assert asara_process("--version").stdout == f"asara {version('asara')}\n"


def test_the_edition_is_shown_with_the_source_of_every_table() -> None:
    text = asara("rules").stdout
    assert f"SHA-256: {load_edition().sha256.hex()}" in text
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    for source in load_edition().sources:
        assert f"{source.values} Source: {source.source}" in words
    assert "pro+gifts+genie" in text


@pytest.mark.parametrize("words", [(), ("tournament",), ("replay",)])
def test_commands_alone_show_what_they_offer(words: tuple[str, ...]) -> None:
    done = asara(*words)
    assert "Usage: asara" in done.stdout + done.stderr
