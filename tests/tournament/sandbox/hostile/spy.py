"""Tries to read everything that would help to cheat, then plays normally."""

import ctypes
import os
from pathlib import Path

import asara


def attempt(what: str, path: Path) -> None:
    try:
        if path.is_dir():
            found = sorted(one.name for one in path.iterdir())
            assert found, "it is empty"
        else:
            found = [repr(path.read_bytes()[:40])]
            assert found != ["b''"], "it is empty"
        print(f"REACHED {what} {path}: {found[:5]}", flush=True)
    except (OSError, AssertionError) as error:
        print(f"refused {what} {path}: {error}", flush=True)


for name in os.environ["WANTED"].split(os.pathsep):
    attempt("wanted", Path(name))
    try:
        with Path(name).open("r+b"):
            print(f"REACHED writing to {name}", flush=True)
    except OSError as error:
        print(f"refused writing to {name}: {error}", flush=True)

# Any file with the name of one that a run writes, wherever it is.
names = {
    "run.journal",
    "run.index",
    "run.json",
    "tournament.toml",
    "cup.toml",
    "referee.key",
    "shadow",
}
for folder, folders, files in os.walk("/"):
    if folder in {"/dev", "/proc", "/usr"}:
        folders.clear()
    for name in names.intersection(files):
        attempt("found", Path(folder, name))

secret = os.environ["SECRET_NAME"].encode()
for process in Path("/proc").glob("[0-9]*"):
    for name in ("environ", "cmdline"):
        try:
            data = (process / name).read_bytes()
        except OSError:
            continue
        if secret in data.replace(b"SECRET_NAME=" + secret, b""):
            print(f"REACHED {process}/{name}", flush=True)
    attempt("root of another", process / "root" / "home")

for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/self/oom_score_adj"):
    try:
        Path(path).write_text("0")
        print(f"REACHED writing to {path}", flush=True)
    except OSError as error:
        print(f"refused writing to {path}: {error}", flush=True)

libc = ctypes.CDLL(None, use_errno=True)
for what, call in (
    ("mount", lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)),
    ("unshare", lambda: libc.unshare(0x10000000)),
    ("keyring", lambda: libc.syscall(250 if os.uname().machine == "x86_64" else 219, 0, -3, 1)),
    ("shmget", lambda: libc.shmget(0, 4096, 0o1600)),
    ("setuid", lambda: libc.setuid(0)),
):
    result = call()
    word = "REACHED" if result >= 0 else "refused"
    print(f"{word} {what}: {os.strerror(ctypes.get_errno())}", flush=True)

asara.run(lambda decision, match: decision.legal_actions[0])
