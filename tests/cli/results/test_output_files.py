"""No command destroys a file of a run, or anything but a regular file, by what it writes."""

import os
from pathlib import Path

import pytest

from tests.cli.command import asara, refusal
from tests.tournament.samples import mirrored, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", mirrored()[:4])


def words(command: str, run: Path, file: Path) -> tuple[str | Path, ...]:
    """Return a command of each kind that writes this file."""
    replay = run / "replays" / "r1.asara"
    return {
        "prove": ("replay", "prove", replay, "--out", file),
        "page": ("replay", "page", replay, "--out", file),
        "standings": ("status", run, "--json", file),
        "report": ("report", run, "--out", file),
        "duel": ("duel", "random", "random", "--json", file),
    }[command]


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", ["prove", "page", "standings", "report", "duel"])
def test_only_regular_files_outside_a_run_are_written(
    run: Path, tmp_path: Path, command: str
) -> None:
    def refused(file: Path) -> str:
        return refusal(*words(command, run, file))

    (run / "replays" / "r1.asara").write_bytes(b"replay")
    (tmp_path / "link").symlink_to(run / "results.jsonl")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    before = content(run)
    for name in ("results.jsonl", "tree_head.json", "replays/r1.asara", "replays/new", "logs/x/y"):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        error = refused(run / name)
        assert error.endswith(f"belongs to the run in {run}; choose a file outside it\n") or (
            name == "replays/r1.asara" and "is the file that the command reads" in error
        )
    assert "belongs to the run" in refused(tmp_path / "link")
    for file in (Path("/dev/full"), tmp_path / "pipe"):
        assert refused(file).endswith(f"{file}: is not a regular file; choose another file\n")
    assert refused(tmp_path / "loop").endswith("; choose another file\n")
    assert refused(tmp_path).endswith("is a folder; choose a file\n")
    assert "does not exist; create it first" in refused(tmp_path / "none" / "file")
    assert not (tmp_path / "none").exists()
    assert (tmp_path / "pipe").is_fifo()
    assert content(run) == before


def test_a_proof_is_written_nowhere_in_its_run(run: Path) -> None:
    (run / "notes").mkdir()
    for name in ("match.proof", "notes/match.proof"):
        error = refusal(*words("prove", run, run / name))
        assert error.endswith(f"belongs to the run in {run}; choose a file outside it\n")


def test_the_file_that_is_read_is_not_replaced(tmp_path: Path) -> None:
    replay = tmp_path / "alone.asara"
    replay.write_bytes(b"replay")
    link = tmp_path / "link"
    link.symlink_to(replay)
    for read, file in ((replay, replay), (replay, link), (link, replay)):
        error = refusal("replay", "prove", read, "--out", file)
        assert error.endswith("is the file that the command reads; choose another file\n")
    assert replay.read_bytes() == b"replay"


def test_the_run_that_a_duel_writes_is_not_overwritten_either(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    error = refusal(
        *("duel", "random", "random", "--out", tmp_path / "out"),
        *("--json", tmp_path / "out" / "results.jsonl"),
    )
    assert "belongs to the run" in error
    assert not list((tmp_path / "out").iterdir())


def test_tables_do_not_replace_files_of_a_run(run: Path, tmp_path: Path) -> None:
    assert "belongs to the run" in refusal("report", run, "--csv", run / "replays")
    assert "create it first" in refusal("report", run, "--csv", tmp_path / "none" / "tables")
    (tmp_path / "file").touch()
    assert "is a file; choose a folder" in refusal("report", run, "--csv", tmp_path / "file")


def test_a_link_to_a_regular_file_stays_a_link(run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert asara("status", run, "--json", tmp_path / "link").returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text().startswith("{")
    assert asara("status", run, "--json", tmp_path / "file").returncode == 0
