from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest

from asara_game.edition import load_edition
from tests.cli import command
from tests.cli.command import asara, asara_process


def test_the_version_is_the_packages() -> None:
    assert asara_process("--version").stdout == f"asara {version('asara')}\n"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_edition_is_shown_and_what_is_not_from_the_rulebook_is_marked(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "COLUMNS", str(width))
    text = asara("rules").stdout
    edition = load_edition()
    assert f"SHA-256: {edition.sha256.hex()}" in text
    lines = text.splitlines()
    [sources] = [line for line in lines if line.endswith("edition.toml")]
    assert sha256(Path(sources.strip()).read_bytes()).digest() == edition.sha256
    assert max(len(line) for line in lines if line != sources and "SHA-256" not in line) <= width
    assert "3 + 1 with gold" in text
    assert not any(line.endswith((" 3 +", " (1", " or")) for line in lines)  # not within a value
    assert not any(line.endswith(" ") for line in lines)
    words = " ".join(text.split()).replace(";", "")
    for source in edition.sources:
        assert source.values.replace(";", "") in words
    marked = sum(source.source != "rulebook" for source in edition.sources)
    assert words.count(" (partly ") == marked
    assert "pro+gifts+genie" in text


@pytest.mark.parametrize("words", [(), ("tournament",), ("replay",)])
def test_commands_alone_show_what_they_offer(words: tuple[str, ...]) -> None:
    done = asara(*words)
    assert "Usage: asara" in done.stdout + done.stderr
