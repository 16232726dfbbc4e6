"""The sandbox: a bot's program sees nothing of the machine but what it needs, and uses no more.

Made by bubblewrap (Linux). A program gets name spaces of its own for processes, network, users,
IPC and host name; no network device but an empty loopback; no capabilities. Its file system holds

    /usr, /bin, /lib*, /sbin   as they are, read-only
    /etc                       linker cache, certificates, time zone and the like
    the interpreter            that runs asara, with its packages and the client, read-only
    the entry's files          see `visible`; read-only, unless it is being built
    the referee's socket       at the address that ASARA_ADDRESS names
    /tmp, /dev/shm             empty, writable, of limited size; /tmp is HOME too
    /proc, /dev                of its own name space, read-only; null, zero, random and the like

and nothing else. Limits: with control groups (see `cgroups`) memory and processes of the whole bot;
without, data and address space of each process, and the processes in its user name space. Linux
counts these since 5.14, but not those of root: for root there must be groups. Open files, processor
time of a process and the size of files are always limited.

Two bots whose authors agreed on it can still signal to each other by the load that they put on the
machine; no sandbox of this kind prevents that.
"""

import os
import shlex
import shutil
import site
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from asara_server.tournament.sandbox.cgroups import Cgroups
from asara_server.tournament.sandbox.sandboxed_command import SandboxedCommand
from asara_server.tournament.sandbox.seccomp import seccomp_filter
from asara_server.tournament.sandbox.spec import MIB, FilesystemView, ResourceLimits

_INSTALL: Final = (
    "install it (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap)"
)
OR_NONE: Final = "or let bots run unconfined, with your rights, by --sandbox none"

_OWN_PROCESSES = 4
"""Of bubblewrap itself, in the group of a bot."""
_UID = 1000
_PROBE_S = 20.0

_SYSTEM = ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr", "/nix/store")
_ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)
_PROC_HIDDEN = (
    "kallsyms",
    "kcore",
    "key-users",
    "keys",
    "kmsg",
    "latency_stats",
    "sched_debug",
    "slabinfo",
    "timer_list",
    "vmallocinfo",
)
"""Files of the kernel that root may read, whom a bot still is where the runner is."""
_PACKAGES = ("asara", "asara_codec", "asara_game", "asara_server")
"""What a bot may import of ours; with an editable installation they lie in the checkout."""

_ENTER = (
    "set -e\n"
    "echo 1000 2>/dev/null >/proc/self/oom_score_adj || :\n"  # the first to go when memory ends
    'while [ "$1" != -- ]; do echo 0 >"$1"; shift; done\n'
    'shift; exec "$@"\n'
)
"""A shell enters the groups before it becomes bubblewrap, so that no process is ever outside."""

_VARIABLES = "/etc/asara-variables"
"""A shell in the sandbox reads the program's variables from there."""

_PROBE = (
    "from importlib.util import find_spec as f; import sys;"
    "sys.exit(0 if all(map(f, ('asara', 'grpc', 'google.protobuf'))) else 'the client is missing')"
)


class SandboxError(Exception):
    """Programs cannot be contained here; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What sandboxes are made with here."""

    bubblewrap: str
    prlimit: str
    """Its path in the sandbox, too."""
    groups: Cgroups | None


class Sandbox:
    """Encloses programs. `find_sandbox` makes one that was seen to work."""

    def __init__(
        self,
        tools: Tools,
        *,
        secret: Iterable[Path] = (),
        shared: Iterable[Path] = (),
    ) -> None:
        """`secret` files and directories are seen by nobody, wherever they lie.

        `shared` directories are seen by no bot as a whole; see `visible`.
        """
        self.tools = tools
        self.secret = tuple(path.resolve() for path in secret)
        self.shared = tuple(path.resolve() for path in shared)
        self._system = _system()
        self._filter = seccomp_filter()

    @property
    def grouped(self) -> bool:
        """Whether memory and processes of a bot are bounded as a whole, by a control group."""
        return self.tools.groups is not None

    def keeping_secret(self, *paths: Path) -> "Sandbox":
        """The same sandbox, with more that nobody sees."""
        return Sandbox(self.tools, secret=(*self.secret, *paths), shared=self.shared)

    def enclose(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        view: FilesystemView,
        resource_limits: ResourceLimits,
    ) -> SandboxedCommand:
        """What to start instead of the command. May raise OSError."""
        mounts = self._mounts(command[0], environment, view, resource_limits)
        contents: list[tuple[str, bytes]] = [
            ("/etc/passwd", f"bot:x:{_UID}:{_UID}:bot:/tmp:/bin/sh\n".encode()),
            ("/etc/group", f"bot:x:{_UID}:\n".encode()),
            ("/etc/hosts", b"127.0.0.1 localhost bot\n::1 localhost\n"),
            (_VARIABLES, _exports(self._environment(environment, mounts))),
        ]
        descriptors = []
        arguments = [*_NAME_SPACES, "--clearenv", "--setenv", "PATH", os.defpath]
        if self._filter is not None:
            descriptors.append(_in_memory(self._filter))
            arguments += ["--seccomp", str(descriptors[-1])]
        for name, content in contents:
            descriptors.append(_in_memory(content))
            mounts[name] = ["--ro-bind-data", str(descriptors[-1]), name]
        for name in sorted(mounts, key=lambda name: Path(name).parts):
            arguments += mounts[name]
        arguments += [word for name in ("/dev", "/proc", "/") for word in ("--remount-ro", name)]
        arguments += ["--chdir", str(view.directory)]
        # Not on the command line, which the program could read: it would tell it where things are.
        descriptors.append(_in_memory(b"".join(os.fsencode(word) + b"\0" for word in arguments)))
        group = None
        try:
            if self.tools.groups is not None:
                group = self.tools.groups.make(
                    memory_bytes=resource_limits.memory_mb * MIB,
                    processes=resource_limits.processes + _OWN_PROCESSES,
                )
        except OSError:
            for descriptor in descriptors:
                os.close(descriptor)
            raise
        # Nothing of the program's own environment reaches what starts it: a variable may name a
        # library of the program, which must not run before the limits hold, let alone outside.
        words = [
            *("/bin/sh", "-c", _ENTER, "sh"),
            *(str(entrance) for entrance in (group.entrances if group else ())),
            *("--", self.tools.prlimit, *resource_limits.of_each_process(memory=group is None)),
            *("--", self.tools.bubblewrap, "--args", str(descriptors[-1])),
            # Only in there are the bot's own processes all that are counted.
            *("--", self.tools.prlimit, f"--nproc={resource_limits.processes + _OWN_PROCESSES}"),
            *("--", "/bin/sh", "-c", f'. {_VARIABLES}; exec "$@"', "sh", *command),
        ]
        outside = {"PATH": os.defpath}
        if "ASARA_ADDRESS" in environment:  # the guardian looks for it
            outside["ASARA_ADDRESS"] = environment["ASARA_ADDRESS"]
        return SandboxedCommand(
            words, outside, tuple(descriptors), group, resource_limits.memory_mb
        )

    def _mounts(
        self,
        program: str,
        environment: Mapping[str, str],
        view: FilesystemView,
        resource_limits: ResourceLimits,
    ) -> dict[str, list[str]]:
        """By the path that a program sees: what bubblewrap should put there.

        Where one lies within another, the deeper one is put there later.
        """
        size = str(resource_limits.disk_mb * MIB)
        mounts = {
            "/proc": ["--proc", "/proc"],
            "/dev": ["--dev", "/dev"],
            "/dev/shm": ["--size", size, "--tmpfs", "/dev/shm"],  # noqa: S108
            "/tmp": ["--size", size, "--tmpfs", "/tmp"],  # noqa: S108
        }
        for name in _PROC_HIDDEN:
            path = f"/proc/{name}"
            if Path(path).exists():
                mounts[path] = ["--ro-bind", "/dev/null", path]
        mounts |= self._system
        for source, place in (*_found(program, environment), *view.readable):
            mounts[str(place)] = ["--ro-bind", str(source), str(place)]
        for source, place in view.writable:
            mounts[str(place)] = ["--bind", str(source), str(place)]
        address = environment.get("ASARA_ADDRESS", "")
        if address.startswith("unix:"):
            socket = address.removeprefix("unix:")
            mounts[socket] = ["--ro-bind", socket, socket]
        mounts.setdefault(str(view.directory), ["--dir", str(view.directory)])
        shown = [Path(name) for name, words in mounts.items() if words[1:] == [name, name]]
        for secret in self.secret:
            if any(_holds(place, secret) for place in shown) and secret.exists():
                name = str(secret)
                hide = ["--tmpfs", name, "--remount-ro", name]
                mounts[name] = hide if secret.is_dir() else ["--ro-bind", "/dev/null", name]
        return mounts

    def _environment(
        self, environment: Mapping[str, str], mounts: Mapping[str, Sequence[str]]
    ) -> dict[str, str]:
        """The program's variables, with a home and a PATH that are there."""
        places = [Path(name) for name in mounts]
        path = environment.get("PATH", os.defpath).split(os.pathsep)
        seen = [name for name in path if any(_holds(place, Path(name)) for place in places)]
        own = {"PATH": os.pathsep.join(seen), "HOME": "/tmp", "TMPDIR": "/tmp", "USER": "bot"}  # noqa: S108
        if site.ENABLE_USER_SITE:
            own["PYTHONUSERBASE"] = site.getuserbase()
        return {**environment, **own}


_NAME_SPACES: Final = (
    "--unshare-user",
    "--disable-userns",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",  # more exactly: with the thread that started it
    *("--uid", str(_UID), "--gid", str(_UID), "--hostname", "bot"),
)


def find_sandbox(*, secret: Iterable[Path] = (), shared: Iterable[Path] = ()) -> Sandbox:
    """The sandbox of this machine, tried once. SandboxError says what is missing."""
    bubblewrap, prlimit = shutil.which("bwrap"), shutil.which("prlimit")
    if sys.platform != "linux":
        raise SandboxError(f"bots are contained on Linux only; {OR_NONE}")
    if bubblewrap is None:
        raise SandboxError(f"bubblewrap (bwrap) is not on PATH; {_INSTALL}, {OR_NONE}")
    if prlimit is None:
        raise SandboxError(f"prlimit is not on PATH; install util-linux, {OR_NONE}")
    groups = Cgroups.find()
    if groups is None and os.geteuid() == 0:
        raise SandboxError(
            "Linux does not count the processes of root, and no control groups can be made that "
            f"would (memory, pids); run asara as an ordinary user, {OR_NONE}"
        )
    tools = Tools(bubblewrap, str(Path(prlimit).resolve()), groups)
    sandbox = Sandbox(tools, secret=secret, shared=shared)
    _try(sandbox)
    return sandbox


def _try(sandbox: Sandbox) -> None:
    """Run the interpreter once as a bot's would be."""
    resource_limits = ResourceLimits(
        memory_mb=1024, processes=64, open_files=64, cpu_s=60, disk_mb=1
    )
    command = [sys.executable, "-c", _PROBE]
    path = os.environ.get("PATH", os.defpath)
    deadline = time.monotonic() + _PROBE_S
    try:
        one = sandbox.enclose(
            command,
            {"PATH": path},
            FilesystemView(Path("/tmp"), ()),  # noqa: S108
            resource_limits,
        )
        try:
            done = subprocess.run(
                one.command,
                env=one.environment,
                pass_fds=one.descriptors,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_PROBE_S,
                check=False,
            )
        finally:
            one.started()
            while one.group and not one.group.removed() and time.monotonic() < deadline:
                time.sleep(0.01)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"bubblewrap does not work here: {error}; {OR_NONE}") from None
    if done.returncode:
        raise SandboxError(_why_not(done.stderr.strip() or f"status {done.returncode}"))


def _why_not(said: str) -> str:
    line = said.splitlines()[-1]
    hint = ""
    if "nknown option" in said:
        line, hint = said.splitlines()[0], "; bubblewrap 0.8 or newer is needed"
    elif "uid map" in said or "ermission denied" in said or "not permitted" in said:
        hint = (
            "; this user may not make user name spaces (Ubuntu: allow it for bwrap in AppArmor; "
            "in a container: run it with the rights to)"
        )
    return f"bubblewrap does not work here: {line}{hint}; mend it, {OR_NONE}"


def _system() -> dict[str, list[str]]:
    """What all programs see: the system and the interpreter that runs asara."""
    mounts = {}
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            mounts[name] = ["--symlink", str(path.readlink()), name]
        elif path.exists():
            mounts[name] = ["--ro-bind", name, name]
    etc = Path("/etc")
    for path in (*(etc / name for name in _ETC), *etc.glob("java-*")):
        if path.is_symlink() and path.exists():
            mounts[str(path)] = ["--ro-bind", str(path.resolve()), str(path)]
        elif path.exists():
            mounts[str(path)] = ["--ro-bind", str(path), str(path)]
    for path in _interpreter():
        if not any(_holds(Path(name), path) for name in mounts):
            mounts[str(path)] = ["--ro-bind", str(path.resolve()), str(path)]
    return mounts


def _interpreter() -> list[Path]:
    """The interpreter and the directories that it and what bots import lie in, outermost first."""
    executable = Path(sys.executable)
    found = {Path(name) for name in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    while executable.is_symlink():  # from the environment's link to the program itself
        executable = Path(os.path.normpath(executable.parent / executable.readlink()))
        found.add(executable)
    if site.ENABLE_USER_SITE:
        found.add(Path(site.getusersitepackages()))
    for package in _PACKAGES:
        spec = find_spec(package)
        found.update(map(Path, spec.submodule_search_locations or () if spec else ()))
    found |= {path.resolve() for path in found if path.is_dir()}
    return sorted((path for path in found if path.exists()), key=lambda path: len(path.parts))


def _found(program: str, environment: Mapping[str, str]) -> list[tuple[Path, Path]]:
    """A program that PATH leads to, which may lie where nothing else is seen."""
    if "/" in program:
        return []
    path = shutil.which(program, path=environment.get("PATH", os.defpath))
    if path is None or any(_holds(Path(name), Path(path)) for name in _SYSTEM):
        return []
    return [(Path(path).resolve(), Path(path))]


def _holds(place: Path, path: Path) -> bool:
    return path.is_relative_to(place)


def _exports(variables: Mapping[str, str]) -> bytes:
    """Lines of a shell that set these variables."""
    lines = (f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    return os.fsencode("".join(lines))


def _in_memory(data: bytes) -> int:
    """A descriptor that reads as these bytes."""
    descriptor = os.memfd_create("asara")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """Where a program is contained: in which sandbox, what it sees, what it may use."""

    sandbox: Sandbox
    view: FilesystemView
    resource_limits: ResourceLimits
