"""Hides from a Python process on Linux what Python on another system lacks.

Python imports this module at its start if this folder is in PYTHONPATH. `LACKING_SYSTEM` names the
system, `windows` or `macos`. Modules, functions and constants are removed; functions that exist
there and refuse do the same here, and files below /proc are not found. This is not that system: its
paths, permissions, programs and sockets are still those of Linux, and what the standard library and
gRPC do below the hidden names is, too.
"""

import asyncio
import errno
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from asyncio import unix_events
from pathlib import Path
from typing import Any

_LINUX = {  # both systems lack these
    os: """CLONE_NEWNS copy_file_range eventfd getrandom memfd_create MFD_ALLOW_SEALING MFD_CLOEXEC
        O_PATH O_TMPFILE pidfd_open posix_fadvise POSIX_FADV_DONTNEED POSIX_FADV_WILLNEED
        posix_fallocate sched_getaffinity sched_setaffinity setresuid splice unshare waitid P_PID
        P_PIDFD WEXITED WNOWAIT""",
    select: "epoll",
    signal: "pidfd_send_signal sigtimedwait sigwaitinfo SIGRTMIN",
    socket: "SO_PEERCRED SO_PASSCRED AF_NETLINK AF_VSOCK",
    time: "CLOCK_BOOTTIME",
}
_UNIX = {  # Windows lacks these as well
    os: """O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_SYNC RTLD_NOW chown confstr ctermid
        environb fchmod fchown fork forkpty fpathconf fstatvfs getegid geteuid getgid getgroups
        getloadavg getpgid getpgrp getpriority getsid getuid killpg lchown lockf mkfifo mknod nice
        openpty pathconf posix_spawn posix_spawnp pread preadv pwrite pwritev readv sendfile
        set_blocking setgid setpgid setpriority setsid setuid statvfs sync sysconf tcgetpgrp
        ttyname uname wait wait3 wait4 writev""",
    select: "poll",
    signal: """ITIMER_REAL SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP
        SIGUSR1 SIGUSR2 SIGWINCH alarm pause pthread_kill setitimer siginterrupt
        sigpending sigwait""",
    socket: "AF_UNIX CMSG_LEN SCM_RIGHTS recv_fds send_fds",
    time: "clock_gettime clock_gettime_ns pthread_getcpuclockid",
    asyncio: "open_unix_connection start_unix_server",
}
_UNIX_MODULES = (
    *("crypt", "fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios"),
    *("tty", "uvloop"),
)

_open = open


def _hide(names: dict[Any, str]) -> None:
    for module, listed in names.items():
        for name in listed.split():
            if hasattr(module, name):
                delattr(module, name)


def _check(path: Any) -> None:
    if isinstance(path, (str, bytes, os.PathLike)) and os.fsdecode(path).startswith("/proc"):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _without_proc() -> None:
    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in {"open", "os.listdir", "os.scandir"}:
            _check(arguments[0])

    def checked(looks: Any) -> Any:
        def look(path: Any, *arguments: Any, **named: Any) -> Any:
            _check(path)
            return looks(path, *arguments, **named)

        return look

    for name in ("lstat", "readlink", "stat"):
        setattr(os, name, checked(getattr(os, name)))
    sys.addaudithook(audit)


def _from_outside() -> bool:
    """Return True unless asyncio itself calls a method of its loop."""
    return not sys._getframe(2).f_globals["__name__"].startswith("asyncio.")


def _as_windows() -> None:  # noqa: C901 - one small function for each name
    loop: Any = unix_events._UnixSelectorEventLoop

    class ProactorEventLoop(loop):  # type: ignore[misc] # the usual loop, to which gRPC cannot add its sockets
        pass

    policy: Any = asyncio.DefaultEventLoopPolicy
    policy._loop_factory = ProactorEventLoop

    def not_here(self: object, *arguments: object, **named: object) -> Any:
        raise NotImplementedError

    def only_overlapped(method: Any) -> Any:
        async def connect(self: object, protocol: Any, pipe: Any) -> Any:
            if _from_outside():
                raise OSError(errno.EINVAL, "The parameter is incorrect")
            return await method(self, protocol, pipe)

        return connect

    for name in (
        *("add_signal_handler", "remove_signal_handler"),
        *("create_unix_connection", "create_unix_server"),
    ):
        setattr(loop, name, not_here)
    for name in ("add_reader", "remove_reader", "add_writer", "remove_writer"):
        setattr(ProactorEventLoop, name, not_here)
    for name in ("connect_read_pipe", "connect_write_pipe"):
        setattr(loop, name, only_overlapped(getattr(loop, name)))

    pairs, unix = socket.socketpair, socket.AF_UNIX
    socket.socketpair = lambda family=unix, *rest: pairs(family, *rest)

    waits = select.select

    def of_sockets(*lists: Any) -> Any:
        for waited in (one for some in lists[:3] for one in some):
            number = waited if isinstance(waited, int) else waited.fileno()
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                raise OSError(errno.ENOTSOCK, os.strerror(errno.ENOTSOCK))
        return waits(*lists)

    select.select = of_sockets

    starts = subprocess.Popen.__init__

    def without_forks(self: Any, *arguments: Any, **named: Any) -> None:
        if named.get("preexec_fn") is not None:
            raise ValueError("preexec_fn is not supported on Windows platforms")
        assert not named.get("pass_fds"), "pass_fds not supported on Windows."
        named.pop("start_new_session", None)
        starts(self, *arguments, **named)

    subprocess.Popen.__init__ = without_forks  # type: ignore[method-assign]
    setattr(subprocess, "_USE_POSIX_SPAWN", False)  # noqa: B010 - it is Final
    subprocess.Popen.kill = lambda self: self.send_signal(9)  # type: ignore[method-assign]

    kills = os.kill

    def terminates(pid: int, number: int) -> None:
        assert number, "signal 0 is Ctrl-C for a whole console"
        kills(pid, number)

    os.kill = terminates

    opens = os.open

    def opens_files(path: Any, flags: int, mode: int = 0o777, *, dir_fd: None = None) -> int:
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opens(path, flags, mode)

    os.open = opens_files  # type: ignore[assignment]
    os.supports_dir_fd.clear()
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    shutil._USE_CP_SENDFILE = False  # type: ignore[attr-defined]

    syncs = os.fsync

    def syncs_written(file: Any) -> None:
        number = file if isinstance(file, int) else file.fileno()
        with _open(f"/dev/fd/{number}", "ab"):
            pass
        syncs(number)

    os.fsync = syncs_written  # type: ignore[assignment]

    for name in _UNIX_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    _hide(_UNIX)


if system := os.environ.get("LACKING_SYSTEM"):
    tempfile.gettempdir(), sysconfig.get_config_vars()  # which find out for good what is here
    sys.platform = f"lacking-{system}"
    if hasattr(
        os, "process_cpu_count"
    ):  # Python 3.13 makes it of `sched_getaffinity`, if that is there
        setattr(os, "process_cpu_count", os.cpu_count)  # noqa: B010 - the types differ
    _hide(_LINUX)
    if system == "windows":
        _as_windows()
    _without_proc()
