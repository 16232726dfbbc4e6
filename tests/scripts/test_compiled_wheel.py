"""The wheel with compiled modules: installed in an environment of its own, it plays the same."""

import json
import os
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

from tests.languages.test_package_python import ROOT, run

pytestmark = pytest.mark.compiled

FILES = """\
import importlib, json, sys
files = {name: importlib.import_module(name).__file__ for name in sys.argv[1:]}
print(json.dumps(files))
"""

STEPS = """\
import hashlib
import numpy as np
from asara_env import vector
matches = vector.Matches(["basic", "pro+gifts+genie"], [2, 3, 4], count=12)
digest = hashlib.sha256()
step = matches.reset(seed=1)
rng = np.random.default_rng(1)
for _ in range(400):
    for array in step:
        digest.update(array.tobytes())
    step = matches.step((rng.random(step.masks.shape) * step.masks).argmax(axis=1))
print(vector.__file__.endswith(".py"), digest.hexdigest())
"""


def compiled_modules() -> list[str]:
    """Return the names of the modules that pyproject.toml lists."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    files = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["modules"]
    names = [file.removesuffix(".py").replace("/", ".") for file in files]
    return [name.removesuffix(".__init__") for name in names]


def run_sources(*words: str | Path, cwd: Path) -> str:
    path = os.pathsep.join(str(ROOT / folder) for folder in ("server", "clients/python"))
    return run(sys.executable, *words, cwd=cwd, path=path)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `bin` of an environment with the wheel; other packages are those of the tests."""
    [wheel] = Path(sys.prefix, "compiled").glob("*.whl")
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    run(programs / "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=folder)
    play = "import asara_game.knowledge.worlds, asara_game.engine"
    run(programs / "python", "-c", play, cwd=folder)  # the rules need no package
    place = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(run(programs / "python", "-c", place, cwd=folder).strip())
    # On the path, but its own .pth files, which lead to the checkout, are not read.
    (packages / "tests.pth").write_text(sysconfig.get_path("purelib"))
    return programs


def test_all_listed_modules_are_compiled(installed: Path, tmp_path: Path) -> None:
    modules = compiled_modules()
    printed = run(installed / "python", "-c", FILES, *modules, cwd=tmp_path)
    files = {name: Path(file) for name, file in json.loads(printed).items()}
    assert len(files) == len(modules) > 40
    for name, file in files.items():
        assert file.is_relative_to(installed.parent), name
        assert file.suffix in {".so", ".pyd"}, name
        assert file.with_name(f"{file.name.partition('.')[0]}.py").is_file(), "beside its source"
    assert run(installed / "asara", "--version", cwd=tmp_path).endswith(" (compiled)\n")


def test_the_referee_of_the_wheel_plays_the_same_match(installed: Path, tmp_path: Path) -> None:
    words = ["match", "search --iterations 2", "greedy", "random", "--rules", "pro+gifts+genie"]
    words += ["--seed", "wheel", "--sandbox", "none", "--out"]
    run(installed / "asara", *words, "wheel", cwd=tmp_path)
    run_sources("-m", "asara_server.cli", *words, "sources", cwd=tmp_path)
    [ours], [theirs] = ([*(tmp_path / name / "replays").iterdir()] for name in ("sources", "wheel"))
    said = run_sources("-m", "asara_server.cli", "replay", "diff", ours, theirs, cwd=tmp_path)
    assert said == "No differences: the set-up, the actions and the results are the same.\n"
    run_sources("-m", "asara_server.cli", "audit", "wheel", cwd=tmp_path)


def test_the_environment_of_the_wheel_makes_the_same_steps(installed: Path, tmp_path: Path) -> None:
    compiled = run(installed / "python", "-c", STEPS, cwd=tmp_path).split()
    sources = run_sources("-c", STEPS, cwd=tmp_path).split()
    assert compiled[0] == "False"
    assert sources[0] == "True"
    assert compiled[1] == sources[1]
