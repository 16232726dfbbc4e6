"""The sandbox: a bot's program sees only the parts of the machine that it needs.

bubblewrap (Linux) creates it. A program gets its own namespaces for processes, network, users, IPC
and host name, no network device except an empty loopback, and no capabilities. The README lists
what else it sees, and `seccomp` the system calls that it may use. Its limits hold for all its
processes together with control groups (see `cgroups`), and otherwise for each process.
"""

import asyncio
import os
import shlex
import signal
import site
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from asara_server.bounded_file import MIB
from asara_server.tournament.sandbox.cgroups import Cgroup, Cgroups
from asara_server.tournament.sandbox.first_process import FirstProcess
from asara_server.tournament.sandbox.machine_limits import Ceilings
from asara_server.tournament.sandbox.private_copy import (
    PrivateCopy,
    duplicate,
    memory_file,
    reopened,
)
from asara_server.tournament.sandbox.resources import (
    BUILD_CACHE,
    NOTHING_RESERVED,
    OWN_PROCESSES,
    ReservedPaths,
    ResourceLimits,
)
from asara_server.tournament.sandbox.runtimes import VisiblePrograms, visible_programs
from asara_server.tournament.sandbox.seccomp import seccomp_filter
from asara_server.tournament.sandbox.system_mounts import Mounts, ProcView, system_mounts


class Usage(NamedTuple):
    """Resources that a program and its children used, as far as a control group counts them."""

    memory_peak: int | None = None
    """Peak memory in bytes."""
    processor_ns: int | None = None
    """Processor time in nanoseconds."""
    out_of_memory: bool = False


@dataclass(eq=False, slots=True)
class SandboxedCommand:
    """A command that runs one program in a sandbox, with resources to release afterwards."""

    argv: list[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...]
    """File descriptors that the command inherits; `close_descriptors` closes them here."""
    cgroup: Cgroup | None = None
    first: FirstProcess | None = None
    """The first process, which ends the sandbox if there is no control group."""
    memory_mib: int = 0
    copied: PrivateCopy | None = None
    """Files that the command copies while it starts; this reference keeps them open until then."""
    began_file: int = -1
    """Descriptor of a file that stays empty until the sandbox begins to run the program."""
    _usage: Usage | None = field(default=None, init=False)
    _sandbox_failed: bool = field(default=False, init=False)
    _cleanup: asyncio.Task[None] | None = field(default=None, init=False)

    def close_descriptors(self) -> None:
        """Close this process's descriptors, once the command has inherited them or failed."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()

    def program_status(self, status: int) -> int:
        """Convert the command's exit status to the program's: negative if a signal killed it."""
        return 128 - status if 128 < status <= 128 + signal.NSIG else status

    @property
    def sandbox_failed(self) -> bool:
        """True if the sandbox never began to run the program.

        False if the program's files alone filled its memory.
        """
        if self.began_file >= 0:
            began = os.fstat(self.began_file).st_size > 0
            self._sandbox_failed = not (began or self.exceeded_limit())
        return self._sandbox_failed

    def exceeded_limit(self) -> str:
        """Describe the limit that the program exceeded, or return "" if none is known."""
        if self.usage().out_of_memory:
            return f"it used more than {self.memory_mib:,} MiB of memory"
        return ""

    def usage(self) -> Usage:
        """Return what the program has used so far, or had used when it was cleaned up."""
        if self._usage is not None:
            return self._usage
        group = self.cgroup
        if group is None:
            return Usage()
        return Usage(group.memory_peak(), group.processor_ns(), group.ran_out_of_memory())

    def kill(self) -> list[int] | None:
        """Kill all processes in the sandbox from outside, and return the remaining processes.

        A process that has not entered its control group yet is killed by its number. None if it is
        not known whether any process is left.
        """
        if self.cgroup is not None:
            return self.cgroup.kill()
        return self.first.kill() if self.first is not None else None

    async def clean_up(self) -> None:
        """Release the copied files and the control group, once all processes have been killed.

        May be called repeatedly.
        """
        self.copied = None
        if self.first is not None:
            self.first.close()
        if self.began_file >= 0:
            self._sandbox_failed = self.sandbox_failed
            os.close(self.began_file)
            self.began_file = -1
        if self.cgroup is not None:
            if self._cleanup is None:
                self._usage = self.usage()
                self._cleanup = asyncio.create_task(self.cgroup.remove())
            await asyncio.shield(self._cleanup)


_UID: Final = 1000

_NAMESPACES: Final = (
    "--unshare-user",
    "--disable-userns",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--new-session",  # a bot's signals to its process group reach nobody outside
    "--die-with-parent",  # more exactly: with the thread that started it
    *("--uid", str(_UID), "--gid", str(_UID), "--hostname", "bot"),
)

_ENTER_CGROUPS: Final = (
    "set -e\n"
    '[ -z "$1" ] || exec 3<"$1"; exec 4>"$2"; shift 2\n'
    "echo 1000 2>/dev/null >/proc/self/oom_score_adj || :\n"  # killed first if memory runs out
    'while [ "$1" != -- ]; do echo 0 >"$1"; shift; done\n'
    'shift; exec "$@"\n'
)
"""Shell script that enters the control groups before it becomes bubblewrap.

No process of the program ever runs outside the groups. The first argument is the archive of the
program's directories, which becomes descriptor 3, or "" without an archive. The second argument is
the file of `_BEGIN`.
"""

_BEGIN: Final = "echo >&4; exec 4>&-\n"
"""Start of the shell script in the sandbox: a byte to descriptor 4 reports that the sandbox works.

The program does not inherit the descriptor, so it can neither fake the report nor take it back.
"""

_UNPACK: Final = (
    "tar -xpof - -C / <&3 ||"
    ' { echo "its folder cannot be copied into memory" >&2; exit 125; }; exec 3<&-\n'
)
"""Shell script in the sandbox that unpacks the archive; the program does not inherit it."""

_ULIMIT_BYTES: Final = 512
"""Unit of `ulimit -f` in the shell."""
_VARIABLES_FILE: Final = "/etc/asara-variables"
"""Shell script in the sandbox that sets the program's environment variables."""


@dataclass(frozen=True, slots=True)
class SandboxTools:
    """Programs and control groups of this machine from which sandboxes are made."""

    bubblewrap: str
    prlimit: str
    """Path of prlimit, which is the same in the sandbox."""
    cgroups: Cgroups | None
    device_guard: tuple[str, ...] = ()
    """Prefix that makes devices read-only for a command; see `device_guard`."""
    ceilings: Ceilings = field(default_factory=dict)
    """The maximum that this machine permits to a program."""


class Sandbox:
    """Wraps commands so that they run in bubblewrap.

    `find_sandbox` returns a sandbox that has been tested on this machine.
    """

    def __init__(self, tools: SandboxTools, reserved: ReservedPaths = NOTHING_RESERVED) -> None:
        """All `reserved` paths are resolved."""
        self.tools = tools
        self.reserved = reserved
        self._system_mounts = system_mounts()
        self._proc = ProcView.of_this_machine()
        self._seccomp_filters = {
            (loopback, set_uid): seccomp_filter(loopback=loopback, set_uid=set_uid)
            for loopback in (False, True)
            for set_uid in (False, True)
        }

    @property
    def has_cgroups(self) -> bool:
        """True if control groups limit the memory and processes of a bot as a whole."""
        return self.tools.cgroups is not None

    @property
    def cgroup_parents(self) -> tuple[Path, ...]:
        """The folders in which bots have their control groups."""
        return self.tools.cgroups.parents if self.tools.cgroups is not None else ()

    @property
    def can_freeze(self) -> bool:
        """True if the processes of a bot can be frozen."""
        return self.tools.cgroups is not None and self.tools.cgroups.can_freeze

    def with_hidden(self, *paths: Path) -> "Sandbox":
        """Return a copy of this sandbox with additional hidden paths."""
        return Sandbox(self.tools, self.reserved.with_hidden(paths))

    def wrap(
        self, spec: "SandboxSpec", command: Sequence[str], environment: Mapping[str, str]
    ) -> SandboxedCommand:
        """Return what `SandboxSpec.wrap` returns."""
        limits = spec.limits
        programs = visible_programs(command, spec.directory, environment, spec.content)
        mounts = self._mounts(programs, environment, spec)
        copied = spec.copied or PrivateCopy()
        first = None if self.has_cgroups else FirstProcess()
        descriptors = [] if first is None else [first.teller]
        try:
            variables = _bot_variables(environment, mounts, programs)
            if spec.writable:
                variables["TMPDIR"] = variables["HOME"] = str(spec.directory / BUILD_CACHE)
            options = self._bubblewrap_options(mounts, variables, spec, descriptors)
            allowed = self._seccomp_filters[spec.loopback, not spec.writable]
            if allowed is not None:
                descriptors.append(memory_file(allowed))
                options += ["--seccomp", str(descriptors[-1])]
            if first is not None:
                options += ["--info-fd", str(first.teller)]
            # The program can read its command line, which would reveal where the files are.
            options_file = memory_file(b"".join(os.fsencode(word) + b"\0" for word in options))
            descriptors.append(options_file)
            if spec.output is not None:
                descriptors.append(duplicate(spec.output))
            start = _BEGIN + _start_script(spec, descriptors[-1])
            began = memory_file(b"")
            descriptors.append(began)
            cgroup = self._create_cgroup(limits)
        except BaseException:
            for descriptor in descriptors:
                os.close(descriptor)
            if first is not None:
                first.close()
            raise
        processes = limits.processes + OWN_PROCESSES
        # Opened by the shell itself: each program reads the archive from the beginning.
        files = f"/proc/{os.getpid()}/fd"
        archive = "" if copied.archive is None else f"{files}/{copied.archive}"
        argv = [
            *("/bin/sh", "-c", _ENTER_CGROUPS, "sh", archive, f"{files}/{began}"),
            *(str(path) for path in (cgroup.procs_files if cgroup else ())),
            *("--", self.tools.prlimit),
            *limits.prlimit_options(memory=cgroup is None, largest_file=copied.largest),
            *("--", *self.tools.device_guard),
            *(self.tools.bubblewrap, "--args", str(options_file)),
            # In the user namespace of the sandbox, only the bot's own processes count.
            *("--", self.tools.prlimit, f"--nproc={processes}"),
            *("--", "/bin/sh", "-c", start, "sh", *command),
        ]
        # The programs that start the bot get none of its variables. A variable may load the bot's
        # library, which must not run before the limits apply, let alone outside the sandbox.
        descriptors.remove(began)
        return SandboxedCommand(
            argv,
            {"PATH": os.defpath},
            tuple(descriptors),
            cgroup,
            first,
            limits.memory_mib,
            copied,
            began,
        )

    def _create_cgroup(self, limits: ResourceLimits) -> Cgroup | None:
        if self.tools.cgroups is None:
            return None
        return self.tools.cgroups.create(
            memory_bytes=limits.memory_mib * MIB,
            processes=limits.processes + OWN_PROCESSES,
            cores=limits.cores,
        )

    def _bubblewrap_options(
        self,
        mounts: Mounts,
        variables: Mapping[str, str],
        spec: "SandboxSpec",
        descriptors: list[int],
    ) -> list[str]:
        """Return bubblewrap's options; the descriptors that they use are appended to a list."""
        options = [*_NAMESPACES, "--clearenv", "--setenv", "PATH", os.defpath]
        files = {
            "/etc/passwd": f"bot:x:{_UID}:{_UID}:bot:/tmp:/bin/sh\n".encode(),
            "/etc/group": f"bot:x:{_UID}:\n".encode(),
            "/etc/hosts": b"127.0.0.1 localhost bot\n::1 localhost\n",
            _VARIABLES_FILE: _export_script(variables),
            **self._proc.files(spec.limits.memory_mib),
        }
        for path, content in files.items():
            descriptors.append(memory_file(content))
            in_new_folder = path.startswith("/proc/sys/")
            options_of_file = ["--perms", "0444", "--file"] if in_new_folder else ["--ro-bind-data"]
            mounts[path] = [*options_of_file, str(descriptors[-1]), path]
        for file in spec.copied.files if spec.copied else ():
            descriptors.append(reopened(file.content))
            name = str(file.path)
            mounts[name] = ["--perms", f"{file.mode:o}", "--file", str(descriptors[-1]), name]
        for path in sorted(mounts):  # the outer ones first
            options += mounts[path]
        for path in ("/dev", "/proc/sys", "/proc", "/"):
            if path in mounts or path == "/":
                options += ["--remount-ro", path]
        return [*options, "--chdir", str(spec.directory)]

    def _mounts(
        self, programs: VisiblePrograms, environment: Mapping[str, str], spec: "SandboxSpec"
    ) -> Mounts:
        """Return all mounts except the mounts of generated files."""
        size = str(spec.limits.disk_mib * MIB)
        mounts = {
            "/proc": ["--proc", "/proc"],
            # bubblewrap's process, which ends the bot: its memory, descriptors, command line.
            "/proc/1": ["--tmpfs", "/proc/1", "--remount-ro", "/proc/1"],
            "/dev": ["--dev", "/dev"],
            # Linux counts the terminals of all programs together.
            "/dev/pts": ["--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"],
            "/dev/shm": ["--size", size, "--tmpfs", "/dev/shm"],  # noqa: S108
            "/tmp": ["--size", size, "--tmpfs", "/tmp"],  # noqa: S108
        }
        mounts |= self._system_mounts | self._proc.mounts
        for source, path in (*programs.mounts, *spec.readable):
            mounts[str(path)] = ["--ro-bind", str(source), str(path)]
        if spec.writable:
            directory = str(spec.directory)
            mounts[directory] = ["--bind", directory, directory]
        if spec.copied is not None:
            own = spec.copied.size if spec.output is None else 0
            size = str(own + spec.limits.disk_mib * MIB)
            for path in spec.copied.directories:
                mounts[str(path)] = ["--size", size, "--tmpfs", str(path)]
        address = environment.get("ASARA_ADDRESS", "")
        if address.startswith("unix:"):
            socket = address.removeprefix("unix:")
            mounts[socket] = ["--ro-bind", socket, socket]
        mounts.setdefault(str(spec.directory), ["--dir", str(spec.directory)])
        mounts |= _covers(self.reserved.hidden, mounts)
        return mounts


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """The sandbox of one program: the files that it sees in addition to the system and the
    interpreter, and its limits.
    """

    sandbox: Sandbox
    limits: ResourceLimits
    directory: Path
    """The program's working directory."""
    readable: tuple[tuple[Path, Path], ...] = ()
    """Files or directories, each as its path on this machine and its path in the sandbox.

    All programs that see such a path share it, read-only.
    """
    copied: PrivateCopy | None = None
    """Files and directories of which the program gets its own copy in memory."""
    content: Path | None = None
    """Directory on this machine with the content of `directory`; None if the paths are equal."""
    writable: bool = False
    """True if the program works directly in this machine's directory instead of a copy.

    $HOME and $TMPDIR are then the directory `BUILD_CACHE` in it, which must exist.
    """
    output: int | None = None
    """Descriptor to which the directory is written as a tar archive after success."""
    loopback: bool = False
    """True if the program has internet sockets, which reach only its own loopback."""

    def wrap(self, command: Sequence[str], environment: Mapping[str, str]) -> SandboxedCommand:
        """Return the command that runs `command` in the sandbox.

        Raises OSError if its control group cannot be created.
        """
        return self.sandbox.wrap(self, command, environment)


def _covers(hidden: Iterable[Path], mounts: Mounts) -> Mounts:
    """Return mounts that cover the hidden paths wherever other mounts would show them."""
    shown: dict[str, list[str]] = {}
    for options in mounts.values():
        if options[0] in ("--bind", "--ro-bind"):
            shown.setdefault(options[1], []).append(options[2])
    covers = {}
    for path in hidden:
        places = [
            str(Path(target) / path.relative_to(outer))
            for outer in (path, *path.parents)
            for target in shown.get(str(outer), ())
        ]
        if places and path.exists():
            for name in places:
                empty = ["--tmpfs", name, "--remount-ro", name]
                covers[name] = empty if path.is_dir() else ["--ro-bind", "/dev/null", name]
    # Inside a covered folder, nothing is left to cover.
    return {
        name: options
        for name, options in covers.items()
        if not any(str(folder) in covers for folder in Path(name).parents)
    }


def _start_script(spec: SandboxSpec, output: int) -> str:
    """Return the shell script that is finally replaced by the program, given as its arguments.

    `output` is the descriptor in the sandbox that corresponds to `spec.output`.
    """
    run = f'. {_VARIABLES_FILE}; exec "$@"'
    unpack = ""
    if spec.copied is not None and spec.copied.archive is not None:
        unpack = f"{_UNPACK}ulimit -f {spec.limits.disk_mib * MIB // _ULIMIT_BYTES}\n"
    if spec.output is None:
        return unpack + run
    directory = shlex.quote(str(spec.directory))
    pack = f"tar --format=gnu -cf - -C {directory} . >/proc/self/fd/{output}"
    return f"{unpack}({run}) || exit\n{pack}"


def _bot_variables(
    environment: Mapping[str, str], mounts: Mounts, shown: VisiblePrograms
) -> dict[str, str]:
    """Return the program's variables; HOME and PATH contain only directories it can see."""
    path = shown.search_path(environment.get("PATH", os.defpath))
    programs = {os.path.dirname(mounted) for mounted in mounts}  # noqa: PTH120 - of many paths
    visible = [n for n in path if n.rstrip("/") in programs or _lies_within(Path(n), mounts)]
    own = {"PATH": os.pathsep.join(visible), "HOME": "/tmp", "TMPDIR": "/tmp", "USER": "bot"}  # noqa: S108
    if site.ENABLE_USER_SITE:
        own["PYTHONUSERBASE"] = site.getuserbase()
    return {**environment, **own}


def _lies_within(path: Path, directories: Container[str]) -> bool:
    return any(str(outer) in directories for outer in (path, *path.parents))


def _export_script(variables: Mapping[str, str]) -> bytes:
    """Return a shell script that sets these variables."""
    lines = (f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    return os.fsencode("".join(lines))
