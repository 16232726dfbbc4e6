"""Malicious bots: `python hostile.py NAME` does what the function of this name says.

They print "REACHED" with anything that they get at, and "refused" with anything that they are
denied. Those that attack the referee's wire are in `attacks.py`.
"""

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

MIB = 1 << 20
X86 = os.uname().machine == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p


def say(*words: object) -> None:
    print(*words, flush=True)


def play() -> None:
    """Play the first legal action of every decision."""
    import asara

    asara.run(lambda decision, match: decision.legal_actions[0])


# Bots of a match


def burn() -> None:
    """Keep all cores busy with threads that never end."""

    def heat() -> None:
        while True:
            hashlib.pbkdf2_hmac("sha256", b"heat", b"salt", 1_000_000)

    say("burning")
    for _ in range(8):
        threading.Thread(target=heat, daemon=True).start()
    play()


def crash() -> None:
    """Abort in the middle of a match."""
    import asara

    def decide(decision: asara.Decision, _match: asara.Match) -> asara.Action:
        if decision.decision_id > 3:
            os.abort()
        return decision.legal_actions[0]

    asara.run(decide)


def disk() -> None:
    """Fill every folder that can be written to, then play normally."""
    for folder in ("/tmp", "/dev/shm", "/", ".", "/usr", "/var/tmp", "/run", "/dev", "/etc"):
        written = 0
        with contextlib.suppress(OSError):
            for number in range(1000):
                with Path(folder, f"file{number}").open("wb", buffering=0) as file:
                    for _ in range(64):
                        written += file.write(bytes(MIB))
        say(f"wrote {written // MIB} MiB to {folder}")
        for path in Path(folder).glob("file*"):
            with contextlib.suppress(OSError):
                path.unlink()
    written, memory = 0, os.memfd_create("memory")
    with contextlib.suppress(OSError):
        for _ in range(1000):
            written += os.write(memory, bytes(MIB))
    say(f"wrote {written // MIB} MiB to memory")
    os.close(memory)
    play()


def files() -> None:
    """Open files until one is refused."""
    opened: list[int] = []
    try:
        while len(opened) < 100_000:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        say(f"refused after {len(opened)} files: {error.strerror}")


def flood() -> None:
    """Flood the output from two threads, and the referee with replies."""
    import grpc

    from asara.v1.play_pb2 import Hello, PlayRequest, PlayResponse, Reply

    def scream(stream: int) -> None:
        while True:
            os.write(stream, b"x" * 65_536)

    def requests() -> Iterator[PlayRequest]:
        yield PlayRequest(hello=Hello(protocol_version=1, token=os.environ["ASARA_TOKEN"]))
        while True:
            yield PlayRequest(reply=Reply(match_id="m" * 1000, decision_id=1))

    for stream in (1, 2):
        threading.Thread(target=scream, args=[stream], daemon=True).start()
    call = grpc.insecure_channel(os.environ["ASARA_ADDRESS"]).stream_stream(
        "/asara.v1.PlayService/Play",
        request_serializer=PlayRequest.SerializeToString,
        response_deserializer=PlayResponse.FromString,
    )
    try:
        for _ in call(requests()):
            pass
    except grpc.RpcError:
        sys.exit("refused")


def fork() -> None:
    """Fork endlessly, as does every child."""
    first = os.getpid()
    reported = False
    while True:
        try:
            os.fork()
        except OSError as error:
            if os.getpid() == first and not reported:
                say(f"refused to fork: {error.strerror}")
                reported = True
            time.sleep(0.01)


def hang() -> None:
    """Connect, then ignore SIGTERM and never answer."""
    import asara

    def decide(_decision: asara.Decision, _match: asara.Match) -> asara.Action:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()

    asara.run(decide)


def leave() -> None:
    """Leave children behind that ignore signals in sessions of their own, then play."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 64)
            subprocess.run(["sleep", os.environ["MARK"]], check=False)
        os._exit(0)
    os.wait()
    subprocess.Popen(["sleep", os.environ["MARK"]], start_new_session=True)
    say("left")
    play()


def memory(way: str = "private") -> None:
    """Take MUCH_MB of memory in this way, and report it if all of it was had."""
    piece = os.urandom(16) * MIB  # 16 MiB
    held: list[object] = []
    children: list[int] = []

    def eat() -> None:
        if way == "shared":
            block = mmap.mmap(-1, len(piece))
            block.write(piece)
            held.append(block)
        else:
            held.append(bytearray(piece))

    for _ in range(0, int(os.environ["MUCH_MB"]), 16):
        if way != "children":
            eat()
            continue
        ate, write = os.pipe()
        if os.fork() == 0:
            eat()
            os.write(write, b".")
            signal.pause()
        os.close(write)
        children.append(ate)
    if all(os.read(ate, 1) for ate in children):
        say("REACHED all of it")


def network() -> None:
    """Connect to everything except the referee, then play normally."""
    addresses: list[tuple[int, tuple[str, int] | str]] = [
        (socket.AF_INET, ("127.0.0.1", int(os.environ["HOST_PORT"]))),
        (socket.AF_INET, ("198.51.100.1", 80)),
        (socket.AF_UNIX, "\0" + os.environ["HOST_ABSTRACT"]),
        (socket.AF_UNIX, os.environ["HOST_SOCKET"]),
    ]
    for family, address in addresses:
        try:
            with socket.socket(family) as one:
                one.settimeout(2)
                one.connect(address)
            say(f"REACHED {address!r}")
        except OSError as error:
            say(f"refused {address!r}: {error}")
    play()


def spy() -> None:
    """Try to read everything that would help to cheat, then play normally."""

    def attempt(what: str, path: Path) -> None:
        try:
            if path.is_dir():
                found = sorted(one.name for one in path.iterdir())
            else:
                found = [repr(data)] if (data := path.read_bytes()[:40]) else []
            say(f"REACHED {what} {path}: {found[:5]}" if found else f"refused {what} {path}: empty")
        except OSError as error:
            say(f"refused {what} {path}: {error}")

    for name in os.environ["WANTED"].split(os.pathsep):
        attempt("wanted", Path(name))
        try:
            with Path(name).open("r+b"):
                say(f"REACHED writing to {name}")
        except OSError as error:
            say(f"refused writing to {name}: {error}")
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
    for folder, folders, found in os.walk("/"):
        if folder in {"/dev", "/proc", "/usr"}:
            folders.clear()
        for name in names.intersection(found):
            attempt("found", Path(folder, name))
    secret = os.environ["SECRET_NAME"].encode()
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("environ", "cmdline"):
            with contextlib.suppress(OSError):
                data = (process / name).read_bytes()
                if secret in data.replace(b"SECRET_NAME=" + secret, b""):
                    say(f"REACHED {process}/{name}")
        attempt("root of another", process / "root" / "home")
    for path in ("core_pattern", "../sysrq-trigger", "../self/oom_score_adj"):
        try:
            Path("/proc/sys/kernel", path).write_text("0")
            say(f"REACHED writing to {path}")
        except OSError as error:
            say(f"refused writing to {path}: {error}")
    say("REACHED root" if libc.setuid(0) == 0 else "refused root")
    play()


# Channels between bots


def calls() -> None:
    """Make the calls that pass the filter or not, depending on their arguments.

    `test_seccomp` tries all calls that are refused regardless of their arguments.
    """
    file = os.open("/usr/bin/env", os.O_RDONLY)
    page = ctypes.c_void_p(libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file, ctypes.c_long(0)))
    space = ctypes.create_string_buffer(8192)

    def report(what: str, result: int) -> None:
        name = errno.errorcode.get(ctypes.get_errno(), "?")
        say(f"refused {what}: {name}" if result < 0 else f"REACHED {what}")

    def call(what: str, numbers: tuple[int, int], *arguments: object) -> None:
        ctypes.set_errno(0)
        number = numbers[0 if X86 else 1]
        values = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
        report(what, libc.syscall(ctypes.c_long(number), *values))

    vector = struct.pack("PP", ctypes.addressof(space), 1)
    for what, advice in (("pageout", 21), ("cold", 20), ("collapse", 25)):
        call(what, (28, 233), page, 4096, advice)
    call("preadv2 without waiting", (327, 286), file, vector, 1, 0, 0, 8)
    call("clone with CLONE_PIDFD", (56, 220), 0x1000 | 17, 0, space, 0, 0)
    for flag in (0x20000, *(1 << bit for bit in range(25, 31))):  # CLONE_NEWNS and its like
        call(f"clone with namespace {flag:x}", (56, 220), flag | 17, 0, 0, 0, 0)
    call("limits of PID 1", (302, 261), 1, 7, 0, space)
    call("PR_SET_PTRACER", (157, 167), 0x59616D61, 1, 0, 0, 0)
    here, _there = socket.socketpair()
    for option in (57, 71, 77):  # SO_COOKIE, SO_NETNS_COOKIE, SO_PEERPIDFD
        length = ctypes.byref(ctypes.c_int(8))
        call(f"getsockopt {option}", (55, 209), here.fileno(), 1, option, space, length)
    call("SO_PASSPIDFD", (54, 208), here.fileno(), 1, 76, struct.pack("i", 1), 4)
    for command in (1024, 1025, 1026, 1036):  # leases, F_NOTIFY, F_SET_RW_HINT
        call(f"fcntl {command}", (72, 25), file, command, 1)
    for request in (0xC020660B, 0x4008662D, 0xC0046629, 0x80086601):  # of file systems
        call(f"ioctl {request:x}", (16, 29), file, request, space)
    for request in (0x8940, 0x8941, 0x8980, 0x8982, 0x8983, 0x89A0, 0x89A1):  # load modules
        call(f"ioctl {request:x} of a socket", (16, 29), here.fileno(), request, space)
    call("O_DIRECT", (257, 56), -100, b"/usr/bin/env", 0o40000 if X86 else 0o200000, 0)
    for family in range(46):
        if family != socket.AF_UNIX:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
                call(f"family {family}", (41, 198), family, kind, 0)
    if X86:
        call("x32 interface", (0x40000000 | 39, 0))
        code = bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3])  # mov eax, 20; int 0x80; ret
        start = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))
        ctypes.memmove(start, code, len(code))
        result = ctypes.CFUNCTYPE(ctypes.c_int)(start)()
        ctypes.set_errno(-result if result < 0 else 0)
        report("i386 interface", result)


def inspect_proc() -> None:
    """Print a digest of every file of /proc outside the directories of processes."""
    for folder, folders, found in os.walk("/proc"):
        if folder == "/proc":
            folders[:] = [name for name in folders if not name.isdigit()]
            folders[:] = [name for name in folders if name not in {"self", "thread-self", "net"}]
        for name in sorted(found):
            path = Path(folder, name)
            try:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            except OSError as error:
                digest = str(error.errno)
            say(f"PROC {path} {digest}")


def lease() -> None:
    """Take leases on the files that a Python bot opens as it starts, and keep them."""
    leased = []
    for path in [*Path(os.__file__).parent.glob("*.py"), Path("/bin/sh"), Path("/usr/bin/env")]:
        for kind in (fcntl.F_WRLCK, fcntl.F_RDLCK):
            one = path.open("rb")
            try:
                fcntl.fcntl(one, fcntl.F_SETLEASE, kind)
                leased.append(one)
                break
            except OSError:
                one.close()
    say(f"{'REACHED' if leased else 'refused'} leases: {len(leased)}")
    signal.pause()


def locks(order: str, argument: str) -> None:
    """Send bits as locks on bytes of a system file ("send BITS"), or receive them ("receive N")."""
    layout, get, put = "hhqqi4x", 36, 37  # F_OFD_GETLK and F_OFD_SETLK
    with open("/usr/bin/env", "rb") as file:  # noqa: PTH123
        if order == "send":
            for number, bit in enumerate(argument):
                if bit == "1":
                    fcntl.fcntl(file, put, struct.pack(layout, fcntl.F_RDLCK, 0, number, 1, 0))
            fcntl.flock(file, fcntl.LOCK_EX)
            say("SENT")
            signal.pause()
        bits = ""
        for number in range(int(argument)):
            lock = struct.pack(layout, fcntl.F_WRLCK, 0, number, 1, 0)
            kind = struct.unpack(layout, fcntl.fcntl(file, get, lock))[0]
            bits += "0" if kind == fcntl.F_UNLCK else "1"
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            bits += " flock"
        say(f"RECEIVED {bits}")


def times(order: str, number: str = "0") -> None:
    """Store a number as times of devices and of open files ("store N"), or load it ("load")."""
    places = [Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom", "tty")]
    places += [Path("/proc", pid, "fd", str(n)) for pid in ("self", "1") for n in range(10)]
    changed, found = [], []
    for place in places:
        with contextlib.suppress(OSError):
            for change in (
                lambda path: path.chmod(path.stat().st_mode & 0o7777),
                os.utime,
                lambda path: os.utime(path, ns=(int(number), int(number))),
            ):
                with contextlib.suppress(OSError):
                    if order == "store":
                        change(place)
                        changed.append(os.path.realpath(place))
            about = place.stat()
            found.append((str(place), about.st_mtime_ns, about.st_atime_ns, about.st_ctime_ns))
    print("CHANGED", *[place for place in changed if "pipe:" not in place])
    print("FOUND", found)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
