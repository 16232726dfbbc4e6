"""`asara proto` writes the protocol's files, and replaces nothing."""

from pathlib import Path

from tests.cli.command import asara, refusal

SOURCE = Path(__file__).parents[2] / "proto"


def test_the_files_are_those_of_the_protocol(tmp_path: Path) -> None:
    files = {path.name: path.read_bytes() for path in SOURCE.rglob("*.proto")}
    done = asara("proto", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, f"Wrote {len(files)} files to out/asara/v1\n")
    written = {path.name: path.read_bytes() for path in (tmp_path / "out/asara/v1").iterdir()}
    assert written == files
    assert asara("proto", "out", cwd=tmp_path).returncode == 0, "the same files are no fault"


def test_no_file_is_replaced_and_none_written_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "asara" / "v1"
    folder.mkdir(parents=True)
    (folder / "view.proto").write_text("mine")
    text = refusal("proto", ".", cwd=tmp_path)
    assert "asara/v1/view.proto: exists with other contents" in text
    assert [path.name for path in folder.iterdir()] == ["view.proto"]
    assert (folder / "view.proto").read_text() == "mine"
