from importlib.metadata import version
from pathlib import Path

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
        assert f"{source.table} {source.values} source: {source.source}" in words
    assert "pro+gifts+genie" in text


@pytest.mark.parametrize("words", [(), ("tournament",), ("replay",)])
def test_commands_alone_show_what_they_offer(words: tuple[str, ...]) -> None:
    done = asara(*words)
    assert "Usage: asara" in done.stdout + done.stderr


def test_a_file_that_is_no_replay_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.asara"
    path.write_text("hello")
    for file, message in (
        (path, "not a replay"),
        (tmp_path, "not a file"),
        (tmp_path / "no", "such"),
    ):
        done = asara("replay", "show", file)
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.startswith(f"asara: {file}: ")
        assert message in done.stderr
