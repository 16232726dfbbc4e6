"""Workers of a cluster that do not see the entries' files get them."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import asara
from tests.tournament.dask_clusters import Cluster
from tests.tournament.sample_bots import SEED, STEADY, write_tournament
from tests.tournament.sandbox_config import sandbox_or_skip
from tests.tournament.worker_runs import HEADER, PATIENT, outcome

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses mount namespaces")

NEEDY = "import pathlib, sys\nprint(pathlib.Path({model!r}).read_text(), flush=True)\n" + STEADY
"""A bot that reads a file that its entry names as `readable`."""


def blind(folder: Path) -> list[str]:
    """Return the command that runs another one without this folder, or skip the test."""
    bubblewrap = shutil.which("bwrap")
    words = [str(bubblewrap), "--dev-bind", "/", "/", "--tmpfs", str(folder), "--"]
    if bubblewrap is None or subprocess.run([*words, "true"], check=False).returncode:
        pytest.skip("no mount namespace can be made")
    return words


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster whose only worker does not see the folder `entries` beside its own."""
    folder = tmp_path_factory.mktemp("blind")
    for name in ("cluster", "entries"):
        (folder / name).mkdir()
    made = Cluster(folder / "cluster")
    try:
        made.start(workers=0)
        made.add_worker(before=blind(folder / "entries"))
        yield made
    finally:
        made.end()


def new_cup(cluster: Cluster, name: str) -> Path:
    folder = cluster.folder.parent / "entries" / name
    folder.mkdir()
    return folder


def run(cluster: Cluster, file: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = ("tournament", "run", file, "--out", out, "--key", out.parent / "key")
    dask = ("--dask", cluster.address)
    return asara(*words, *dask, *options)


def files_on_worker(cluster: Cluster) -> list[Path]:
    return [path for path in cluster.folder.glob("worker-0/**/asara-files/**/*") if path.is_file()]


@pytest.mark.long
def test_a_worker_gets_the_files_of_entries_by_hash_and_once(
    cluster: Cluster, tmp_path: Path
) -> None:
    cup = new_cup(cluster, "plain")
    file = write_tournament(cup, {"ann": STEADY, "bob": STEADY}, HEADER, PATIENT)
    (cup / "ann-notes").mkdir()
    (cup / "ann-notes" / "opening.txt").write_text("a" * 5_000_000)  # two parts
    first = run(cluster, file, tmp_path / "dask", "--sandbox", "none")
    assert first.returncode == 0, first.stderr
    words = ("tournament", "run", file, "--out", tmp_path / "local", "--key", tmp_path / "key")
    assert asara(*words, "--sandbox", "none").returncode == 0
    assert outcome(tmp_path / "dask") == outcome(tmp_path / "local")
    there = files_on_worker(cluster)
    assert {path.name for path in there} == {"ann.py", "bob.py", "opening.txt"}
    assert not any(SEED.encode() in path.read_bytes() for path in there)
    before = {path: path.stat().st_ino for path in there}
    assert run(cluster, file, tmp_path / "again", "--sandbox", "none").returncode == 0
    assert {path: path.stat().st_ino for path in files_on_worker(cluster)} == before


@pytest.mark.long
def test_contained_bots_find_their_files_where_they_are_at_home(
    cluster: Cluster, tmp_path: Path
) -> None:
    sandbox_or_skip()
    cup = new_cup(cluster, "needy")
    model = cup / "models" / "weights"
    model.parent.mkdir()
    model.write_text("heavy")
    program = NEEDY.format(model=str(model))
    file = write_tournament(cup, {"ann": program, "bob": program}, HEADER, PATIENT)
    text = file.read_text().replace("[[entries]]\n", '[[entries]]\nreadable = ["models"]\n')
    file.write_text(text)
    refused = run(cluster, file, tmp_path / "unconfined", "--sandbox", "none")
    assert refused.returncode == 1
    assert "bots find `readable` paths only on a shared file system" in refused.stderr
    assert "Traceback" not in refused.stderr
    done = run(cluster, file, tmp_path / "dask", "--sandbox", "bubblewrap")
    assert done.returncode == 0, done.stderr
    logs = [path.read_text() for path in (tmp_path / "dask" / "logs").glob("*/*.log")]
    assert logs
    assert all("heavy" in log for log in logs), logs
