import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
[EXPLAIN] = re.findall(
    r"^explain_go_build\(\) \{\n.*?^\}\n",
    (ROOT / "scripts/demo").read_text(),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize(
    ("status", "log", "said"),
    [
        (
            1,
            "main.go:7:2: undefined: x\n",
            "The Go bot could not be built (see build/go-random.log)",
        ),
        (1, 'a@v1: Get "http://p/a.zip": dial tcp: refused\n', "could not be downloaded: the demo"),
        (124, "go: downloading google.golang.org/grpc v1.71.3\n", "was not built within 90 s"),
    ],
)
def test_a_failed_build_of_the_go_bot_says_why(
    status: int, log: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build/go-random.log").write_text(log)
    script = f"root='{tmp_path}'\n{EXPLAIN}explain_go_build {status}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    first, *rest = done.stdout.splitlines()
    assert first == f"  | {log.rstrip()}"
    assert said in " ".join(rest)
