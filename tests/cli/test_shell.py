"""Odd shells: streams that are closed, without a reader, or lack some signs."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import command_line, environment
from tests.tournament.samples import mirrored, write_run


def shell(line: str, cwd: Path, **variables: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a line of Bash in which "$@" is `asara`."""
    return subprocess.run(
        ["bash", "-c", line, "bash", *command_line()],
        capture_output=True,
        cwd=cwd,
        env=environment(**variables),
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a run, whose title has signs that some encodings lack."""
    write_run(tmp_path / "run", mirrored(), title="Küche – 漢")
    return tmp_path


@pytest.mark.long
def test_signs_that_an_encoding_lacks_are_replaced(folder: Path) -> None:
    done = shell('"$@" status run', folder, PYTHONIOENCODING="iso-8859-1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"K\xfcche ? ?:" in done.stdout
    done = shell("\"$@\" status $'漢\\xff'", folder, PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert done.stderr.startswith(b"asara: \\u6f22\\udcff: not the folder of a run")


@pytest.mark.parametrize("words", ["status run", "--version"])
def test_a_closed_standard_output_is_a_sentence(folder: Path, words: str) -> None:
    done = shell(f'"$@" {words} >&-', folder)
    assert (done.returncode, done.stderr) == (
        1,
        b"asara: standard output is closed: open it, or discard it by >/dev/null\n",
    )


@pytest.mark.long
def test_other_closed_streams_do_not_matter(folder: Path) -> None:
    done = shell('"$@" status run <&- 2>&-', folder)
    assert done.returncode == 0
    assert done.stdout.startswith("Küche – 漢".encode())


@pytest.mark.long
@pytest.mark.parametrize("words", ["status run", "--help"])
def test_a_reader_that_has_seen_enough_is_no_error(folder: Path, words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            command_line(*words.split()),
            stdout=writer,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment(),
            check=False,
        )
    finally:
        os.close(writer)
    assert done.stderr == b""
