"""Files of a run from which its deals follow: until it is finished only the owner may read them."""

from contextlib import closing
from pathlib import Path

from asara_server.tournament.run.directory import RunDirectory
from tests.tournament.samples import INFO, RUNNING


def modes(path: Path) -> dict[str, int]:
    return {
        name: (path / name).stat().st_mode & 0o777
        for name in ("run.json", "tournament.toml", "run.journal")
    }


def test_seed_and_secrets_are_private_until_the_run_is_finished(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text('seed = "…"\n')
    file.chmod(0o644)
    with closing(RunDirectory.create(tmp_path / "run")) as directory:
        directory.keep_tournament_file(file)
        directory.write_info(INFO.model_copy(update=RUNNING))
        assert set(modes(directory.path).values()) == {0o600}
        directory.write_info(INFO.model_copy(update={**RUNNING, "state": "cut short"}))
        assert set(modes(directory.path).values()) == {0o600}
        directory.write_info(INFO)
        assert (
            modes(directory.path)["run.json"] == modes(directory.path)["tournament.toml"] != 0o600
        )
        assert directory.tournament_file.read_bytes() == file.read_bytes()
