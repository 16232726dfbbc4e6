"""The paths that an entry names as `readable`, in the sandbox."""

from pathlib import Path

from tests.tournament.sandbox.contained import run_entry
from tests.tournament.sandbox_config import sandbox_or_skip

CUP = """
title = "Cup"
seats = 2
rules = "basic"
[[entries]]
name = "mine"
directory = "mine"
command = "python main.py"
readable = ["mine/weights", "mine/data/a", "newest", "kept"]
[[entries]]
name = "other"
command = "env"
"""

READS = """
import os
for name in ("weights", "data/a", "../newest/size", "../kept/in", "../kept/link"):
    print(name, open(name).read())
print(os.path.islink("weights"), os.path.islink("data"))
for name, mode in (("newest/secret", "r"), ("stored/v2/secret", "r"), ("newest/size", "w")):
    try:
        print(open(f"../{name}", mode).read() or "empty")
    except OSError as error:
        print(error.strerror)
"""


def test_readable_may_name_links_and_what_lies_behind_them(tmp_path: Path) -> None:
    """They are seen at the path of the link, and at their own; what is hidden stays so at both."""
    stored = tmp_path / "stored"
    for name in ("v2/size", "v2/secret", "data/a"):
        (stored / name).parent.mkdir(parents=True, exist_ok=True)
        (stored / name).write_text(f"text of {name}")
    for folder in ("mine", "kept"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mine" / "main.py").write_text(READS)
    (tmp_path / "mine" / "weights").symlink_to("../stored/v2/size")
    (tmp_path / "mine" / "data").symlink_to(stored / "data")
    (tmp_path / "newest").symlink_to("stored/v2")
    (tmp_path / "kept" / "in").write_text("text of in")
    (tmp_path / "kept" / "link").symlink_to("in")
    (tmp_path / "cup.toml").write_text(CUP)
    sandbox = sandbox_or_skip((tmp_path / "cup.toml", stored / "v2" / "secret"), (tmp_path,))
    assert run_entry(sandbox, tmp_path / "cup.toml", "mine").splitlines()[1:] == [
        "weights text of v2/size",
        "data/a text of data/a",
        "../newest/size text of v2/size",
        "../kept/in text of in",
        "../kept/link text of in",
        "False False",
        "Permission denied",
        "Permission denied",
        "Read-only file system",
    ]
