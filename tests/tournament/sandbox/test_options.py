"""The whole command line of a sandbox: whoever adds an option or a file to it changes this test."""

import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from asara_server.bounded_file import MIB
from asara_server.tournament.sandbox import bubblewrap
from asara_server.tournament.sandbox.bubblewrap import (
    _VARIABLES_FILE,
    Sandbox,
    SandboxSpec,
    SandboxTools,
    _covers,
)
from asara_server.tournament.sandbox.cgroups import Cgroups
from asara_server.tournament.sandbox.private_copy import CopiedFile, PrivateCopy, memory_file
from asara_server.tournament.sandbox.proc_view import ProcView
from asara_server.tournament.sandbox.runtimes import VisiblePrograms
from asara_server.tournament.sandbox.seccomp import seccomp_filter
from asara_server.tournament.sandbox.spec import ReservedPaths, ResourceLimits

LIMITS = ResourceLimits(memory_mib=256, processes=10, open_files=300, cpu_s=7, disk_mib=3)
ENVIRONMENT = {"ASARA_ADDRESS": "unix:/run/bot", "PATH": "/tool/bin:/nowhere", "A": "b c"}
OPTIONS = """\
--unshare-user --disable-userns --unshare-ipc --unshare-pid --unshare-net --unshare-uts
--unshare-cgroup-try --new-session --die-with-parent --uid 1000 --gid 1000 --hostname bot
--clearenv --setenv PATH {defpath}
--dev /dev --tmpfs /dev/pts --remount-ro /dev/pts --size 3145728 --tmpfs /dev/shm
--ro-bind-data {variables} /etc/asara-variables
--ro-bind-data 'bot:x:1000:\n' /etc/group
--ro-bind-data '127.0.0.1 localhost bot\n::1 localhost\n' /etc/hosts
--ro-bind-data 'bot:x:1000:1000:bot:/tmp:/bin/sh\n' /etc/passwd
--proc /proc --tmpfs /proc/1 --remount-ro /proc/1
--ro-bind-data {memory} /proc/meminfo --ro-bind-data cpu /proc/stat
--tmpfs /proc/sys --perms 0444 --file 1 /proc/sys/x
--ro-bind /run/bot /run/bot --size 3145728 --tmpfs /tmp
--ro-bind {top}/tool /tool --ro-bind /dev/null /tool/key
--tmpfs /tool/keys --remount-ro /tool/keys
{own}
--seccomp FILTER --info-fd TELLER
--remount-ro /dev --remount-ro /proc/sys --remount-ro /proc --remount-ro / --chdir {top}/bot
"""
COPIES = "--size {size} --tmpfs {top}/bot --perms 555 --file 'print()' {top}/bot/b.py"
IN_PLACE = "--bind {top}/bot {top}/bot --ro-bind /dev/null {top}/bot/secret"
VARIABLES = """\
export ASARA_ADDRESS=unix:/run/bot
export PATH=/tool/bin
export A='b c'
export HOME={home}
export TMPDIR={home}
export USER=bot
"""
RUN = '. /etc/asara-variables; exec "$@"'


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """A sandbox that hides files, on a machine without control groups and with a small system."""
    monkeypatch.setattr("site.ENABLE_USER_SITE", False)
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "secret").touch()
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "key").touch()
    (tmp_path / "tool" / "keys" / "more").mkdir(parents=True)
    tools = SandboxTools("/usr/bin/bwrap", "/usr/bin/prlimit", None, ("guard",))
    hidden = ("tool/key", "tool/keys", "tool/keys/more", "bot/none", "bot/secret")
    made = Sandbox(tools, ReservedPaths(tuple(tmp_path / name for name in hidden)))
    made._system_mounts = {}
    proc = {"/proc/stat": b"cpu", "/proc/sys/x": b"1"}
    made._proc = ProcView({"/proc/sys": ["--tmpfs", "/proc/sys"]}, proc)
    return made


def content(descriptor: str | int) -> bytes:
    return os.pread(int(descriptor), 1 << 20, 0)


def groups(options: str) -> list[str]:
    """Return the options, each with its arguments."""
    return re.split(r" (?=--)", shlex.join(shlex.split(options)))


@pytest.mark.parametrize("kind", ["match", "build", "build in place"])
def test_the_command_line_has_what_is_listed_and_nothing_else(
    sandbox: Sandbox, tmp_path: Path, kind: str
) -> None:
    rules = seccomp_filter(loopback=kind == "build", set_uid=kind != "build in place")
    if rules is None:
        pytest.skip("system calls are not filtered on this processor")
    folder = tmp_path / "bot"
    file = CopiedFile(folder / "b.py", 0o555, memory_file(b"print()"))
    archive = memory_file(b"archive")
    copied = PrivateCopy((folder,), (file,), archive, size=1_000, largest=5_000_000)
    spec = SandboxSpec(
        sandbox,
        LIMITS,
        folder,
        readable=((tmp_path / "tool", Path("/tool")),),
        copied=None if kind == "build in place" else copied,
        writable=kind == "build in place",
        output=archive if kind == "build" else None,
        loopback=kind == "build",
    )
    made = spec.wrap(["./bot", "-x"], ENVIRONMENT)
    assert made.first is not None
    size, home, own = {
        "match": (3_146_728, "/tmp", COPIES),
        "build": (3_145_728, "/tmp", COPIES),
        "build in place": (0, folder / ".asara-build", IN_PLACE),
    }[kind]

    words = iter(made.argv)
    head = [next(words) for _ in range(4)]
    assert head[:2] + head[3:] == ["/bin/sh", "-c", "sh"]
    files = f"/proc/{os.getpid()}/fd"
    expected_archive = "" if spec.copied is None else f"{files}/{archive}"
    limits = LIMITS.prlimit_options(memory=True, largest_file=5_000_000 if spec.copied else 0)
    rest = list(words)
    options = rest.index("--args") + 1
    script = rest[-4]
    assert rest == [
        *(expected_archive, f"{files}/{made.began_file}", "--", "/usr/bin/prlimit", *limits),
        *("--", "guard", "/usr/bin/bwrap", "--args", rest[options]),
        *("--", "/usr/bin/prlimit", "--nproc=14", "--", "/bin/sh", "-c", script, "sh"),
        *("./bot", "-x"),
    ]
    assert made.environment == {"PATH": os.defpath}

    told = {str(one): content(one) for one in made.descriptors if one != made.first.teller}
    found = content(rest[options]).decode().split("\0")
    assert found.pop() == ""
    allowed = found[found.index("--seccomp") + 1]
    assert told[allowed] == rules
    data = ("--ro-bind-data", "--file")
    names = {allowed: "FILTER", str(made.first.teller): "TELLER"}
    shown = [
        told[word].decode() if before in data else names.get(word, word)
        for before, word in zip(["", *found], found, strict=False)
    ]
    expected = groups(
        OPTIONS.format(
            defpath=os.defpath,
            variables=shlex.quote(VARIABLES.format(home=home)),
            memory=shlex.quote(sandbox._proc.files(LIMITS.memory_mib)["/proc/meminfo"].decode()),
            own=own.format(size=size, top=tmp_path),
            top=tmp_path,
        )
    )
    assert sorted(groups(shlex.join(shown))) == sorted(expected)
    assert [group.split()[0] for group in groups(shlex.join(shown))][-7:] == [
        *["--remount-ro"] * 4,
        *("--chdir", "--seccomp", "--info-fd"),
    ], "nothing is mounted any more"

    unpack = (
        'tar -xpof - -C / <&3 || { echo "its folder cannot be copied into memory" >&2; exit 125;'
        " }; exec 3<&-\nulimit -f 6144\n"
    ) * (spec.copied is not None)
    pack = f"\ntar --format=gnu -cf - -C {folder} . >/proc/self/fd/{made.descriptors[-1]}"
    if kind == "build":
        assert told[str(made.descriptors[-1])] == b"archive"
    body = f"({RUN}) || exit{pack}" if kind == "build" else RUN
    assert script == f"echo >&4; exec 4>&-\n{unpack}{body}"

    made.close_descriptors()
    made.first.close()
    os.close(made.began_file)
    os.close(file.content)
    os.close(archive)


class Groups:
    """Control groups that a test looks at."""

    can_freeze = True
    parents = (Path("/groups"),)

    def __init__(self) -> None:
        self.created: list[dict[str, int | None]] = []

    def create(self, **limits: int | None) -> SimpleNamespace:
        self.created.append(limits)
        return SimpleNamespace(procs_files=(Path("/groups/bot/procs"),))


def test_with_control_groups_the_program_starts_in_its_own(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (sandbox.has_cgroups, sandbox.can_freeze, sandbox.cgroup_parents) == (False, False, ())
    groups = Groups()
    sandbox.tools = replace(sandbox.tools, cgroups=cast(Cgroups, groups))
    assert sandbox.has_cgroups
    assert sandbox.can_freeze
    assert sandbox.cgroup_parents == groups.parents
    groups.can_freeze = False
    assert not sandbox.can_freeze

    runtime = VisiblePrograms(((tmp_path / "tool", Path("/runtime")),))
    monkeypatch.setattr(bubblewrap, "visible_programs", lambda *_: runtime)
    monkeypatch.setattr("site.ENABLE_USER_SITE", True)
    monkeypatch.setattr("site.getuserbase", lambda: "/users/base")
    limits = replace(LIMITS, cores=2)
    environment = {"ASARA_ADDRESS": "127.0.0.1:9", "PATH": "/runtime:/runtime/bin:/tmp:/run"}
    made = SandboxSpec(sandbox, limits, tmp_path / "bot", loopback=True).wrap(
        ["./bot"], environment
    )
    assert groups.created == [{"memory_bytes": 256 * MIB, "processes": 14, "cores": 2}]
    assert made.first is None
    assert made.memory_mib == 256
    began = f"/proc/{os.getpid()}/fd/{made.began_file}"
    assert made.argv[3:8] == ["sh", "", began, "/groups/bot/procs", "--"]
    end = made.argv.index("--", 8)
    assert made.argv[9:end] == limits.prlimit_options(memory=False)
    told = {str(one): content(one) for one in made.descriptors}
    found = told[made.argv[made.argv.index("--args") + 1]].decode().split("\0")
    assert "--info-fd" not in found
    assert told[found[found.index("--seccomp") + 1]] == seccomp_filter(loopback=True, set_uid=True)
    assert b"export PYTHONUSERBASE=/users/base\n" in told[found[found.index(_VARIABLES_FILE) - 1]]
    assert (
        b"export PATH=/runtime:/runtime/bin:/tmp\n" in told[found[found.index(_VARIABLES_FILE) - 1]]
    )
    assert "127.0.0.1:9" not in found
    shown = shlex.join(found)
    runtime_first = f"--ro-bind {tmp_path}/tool /runtime --ro-bind /dev/null /runtime/key "
    assert f"{runtime_first}--tmpfs /runtime/keys --remount-ro /runtime/keys " in shown
    assert f"--dir {tmp_path}/bot --remount-ro" in shown
    made.close_descriptors()
    os.close(made.began_file)


def test_a_hidden_folder_is_covered_where_it_is_mounted_itself(tmp_path: Path) -> None:
    mounts = {"/tool": ["--ro-bind", str(tmp_path), "/tool"]}
    assert _covers([tmp_path], mounts) == {"/tool": ["--tmpfs", "/tool", "--remount-ro", "/tool"]}
