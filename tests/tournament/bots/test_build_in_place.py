"""Builds in the author's own folder."""

import asyncio
from pathlib import Path

from asara_server.tournament.bots.build import build_in_place
from asara_server.tournament.config.tournament_file import Entry, Limits
from tests.tournament.sandbox_config import sandbox_or_skip

ATTEMPTS = """
import ctypes, os, shutil, stat
libc = ctypes.CDLL(None, use_errno=True)
print("around", os.listdir(".."), "interfaces", len(open("/proc/net/dev").readlines()) - 2)
try:
    print("READ", open("secret").read())
except OSError as error:
    print("refused", error)
os.close(os.open("program", os.O_WRONLY | os.O_CREAT, 0o755))
os.mkdir("folder")
def held(mode):
    file = os.open("program", os.O_RDONLY)
    os.fchmod(file, mode)
def unnamed():
    file = os.open(".", os.O_WRONLY | os.O_TMPFILE, 0o4755)
    os.link(f"/proc/self/fd/{file}", "unnamed")
attempts = {
    "chmod": lambda: os.chmod("program", 0o4755),
    "both": lambda: os.chmod("program", 0o6755),
    "fchmod": lambda: held(0o4755),
    "fchmodat": lambda: os.chmod("program", 0o4755, dir_fd=os.open(".", os.O_RDONLY)),
    "fchmodat2": lambda: libc.syscall(452, -100, b"program", 0o4755, 0),
    "open": lambda: libc.open(b"opened", os.O_WRONLY | os.O_CREAT, 0o4755),
    "openat": lambda: os.close(os.open("openat", os.O_WRONLY | os.O_CREAT, 0o2755)),
    "creat": lambda: libc.creat(b"created", 0o6755),
    "mknod": lambda: os.mknod("node", 0o4755 | stat.S_IFREG),
    "unnamed": unnamed,
    "group": lambda: os.chmod("program", 0o2755),
    "group-of-folder": lambda: os.chmod("folder", 0o2755),
}
for name, attempt in attempts.items():
    try:
        attempt()
    except OSError as error:
        print(name, error)
    else:
        print(name, "went on")
    for found in os.listdir("."):
        if os.path.isfile(found) and os.lstat(found).st_mode & 0o6000:
            print("set by", name, found)
            os.chmod(found, 0o755)
shutil.copytree("folder", "copy")
"""


def test_a_contained_build_makes_no_set_uid_file_at_any_moment(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "secret").write_text("the seed")
    sandbox = sandbox_or_skip((folder / "secret",))
    (folder / "build.py").write_text(ATTEMPTS)
    (folder / "old").touch()
    (folder / "old").chmod(0o4755)
    folder.chmod(0o2755)  # folders inherit the bit, and copies of them keep it
    table = {
        "name": "mine",
        "directory": "mine",
        "build": "python build.py",
        "command": "./program",
    }
    entry = Entry.model_validate(table, context={"base": tmp_path})
    log = tmp_path / "build.log"
    failed = asyncio.run(build_in_place(entry, log, sandbox=sandbox, limits=Limits()))
    assert failed is None, log.read_text()
    printed = [line for line in log.read_text().splitlines() if not line.startswith("#")]
    assert [line for line in printed if line.startswith("set by")] == []
    assert printed[0] == "around ['mine'] interfaces 1"
    assert printed[1].startswith("refused ")
    assert "chmod [Errno 1] Operation not permitted: 'program'" in printed
    assert "group went on" in printed
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"old", "program"}
    assert [path for path in files if path.stat().st_mode & 0o6000] == []
    assert (folder / "old").stat().st_mode & 0o777 == 0o755
