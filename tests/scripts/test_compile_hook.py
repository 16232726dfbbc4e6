"""The build hook that compiles modules: off unless asked for, and clear about what it lacks."""

import os
import subprocess
import sys
from pathlib import Path

from hatchling.build import get_requires_for_build_wheel

ROOT = Path(__file__).parents[2]


def test_only_a_compiled_wheel_needs_mypyc(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("HATCH_BUILD_HOOKS_ENABLE", raising=False)
    assert get_requires_for_build_wheel() == []
    monkeypatch.setenv("HATCH_BUILD_HOOKS_ENABLE", "1")
    assert get_requires_for_build_wheel() == ["mypy[mypyc]>=2.0", "numpy>=2"]


def test_a_missing_compiler_is_named(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        env={**os.environ, "HATCH_BUILD_HOOKS_ENABLE": "1", "CC": "no-such-compiler -m64"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.startswith("There is no C compiler (no-such-compiler -m64): ")
    assert "HATCH_BUILD_HOOKS_ENABLE" in done.stdout
    assert "Traceback" not in done.stdout
    assert list(tmp_path.iterdir()) == []
