"""All means by which a bot may carry a note, a word, from match to match or to another bot.

NEST distinguishes the bots of a test from other programs.

    carriers.py     removes what they have left on this machine
"""

import contextlib
import ctypes
import os
import socket
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

NEST = os.environ["NEST"]
NUMBER = zlib.crc32(NEST.encode()) >> 1
LEFT_OVER_S = 30
"""Seconds after which what is left of the bot ends by itself."""
NOTE_BYTES = 128
FILE = f"canary-{NEST}"
QUEUE = f"/{FILE}".encode()
IPC_CREAT = 0o1000
IPC_RMID = 0
PORT = 20_000 + NUMBER % 10_000
SERVER = """
import os, socket, sys, time
name, note, seconds = sys.argv[1:]
server = socket.socket(socket.AF_UNIX)
server.bind(name.replace("@", chr(0)))
server.listen()
print("listening", flush=True)
server.settimeout(float(seconds))
while True:
    client, _ = server.accept()
    client.send(note.encode())
    client.close()
"""
"""Program of a child that outlives the match and hands out the note at an abstract socket."""

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
global_notes: list[str] = []
servers: list[socket.socket] = []


def file_in(folder: str) -> tuple[Callable[[], list[str]], Callable[[str], None]]:
    path = Path(folder, FILE)

    def read() -> list[str]:
        return path.read_text().split()

    def leave(note: str) -> None:
        with path.open("a") as file:
            file.write(f"{note}\n")

    return read, leave


def received(address: object, family: socket.AddressFamily) -> list[str]:
    with socket.socket(family) as client:
        client.settimeout(1)
        client.connect(address)  # type: ignore[arg-type]
        return [client.recv(NOTE_BYTES).decode()]


def serve(address: object, family: socket.AddressFamily, note: str) -> None:
    """Hand out the note in a thread until the process ends; the first one keeps the address."""
    server = socket.socket(family)
    server.bind(address)  # type: ignore[arg-type]
    server.listen()

    def answer() -> None:
        while True:
            client, _ = server.accept()
            client.send(note.encode())
            client.close()

    servers.append(server)
    threading.Thread(target=answer, daemon=True).start()


def socket_at(
    address: object, family: socket.AddressFamily
) -> tuple[Callable[[], list[str]], Callable[[str], None]]:
    return lambda: received(address, family), lambda note: serve(address, family, note)


def segment() -> int:
    number = int(libc.shmget(NUMBER, 4096, IPC_CREAT | 0o600))
    if number < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    return number


def system_v_notes() -> list[str]:
    address = libc.shmat(segment(), None, 0)
    text = ctypes.string_at(address)
    libc.shmdt(ctypes.c_void_p(address))
    return text.decode().split()


def leave_in_system_v(note: str) -> None:
    address = libc.shmat(segment(), None, 0)
    ctypes.memmove(address, note.encode() + b"\0", len(note) + 1)
    libc.shmdt(ctypes.c_void_p(address))


def queue() -> int:
    class Attributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_long) for name in ("flags", "most", "size", "now")]
        _fields_ += [("reserved", ctypes.c_long * 4)]

    attributes = ctypes.byref(Attributes(0, 10, NOTE_BYTES))
    flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK
    number = int(libc.mq_open(QUEUE, flags, 0o600, attributes))
    if number < 0:
        raise OSError(ctypes.get_errno(), "mq_open")
    return number


def queued_notes() -> list[str]:
    number, text = queue(), ctypes.create_string_buffer(NOTE_BYTES)
    found = []
    while (length := libc.mq_receive(number, text, NOTE_BYTES, None)) > 0:
        found.append(text.raw[:length].decode())
    libc.close(number)
    return found


def leave_in_queue(note: str) -> None:
    number = queue()
    libc.mq_send(number, note.encode(), len(note), 0)
    libc.close(number)


def child_notes() -> list[str]:
    """Dial the children, whose command lines have their addresses."""
    names = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().decode(errors="replace").split("\0")
            names |= {word for word in words if word.startswith(f"@{FILE}")}
    return [n for name in names for n in received(name.replace("@", "\0"), socket.AF_UNIX)]


def leave_child(note: str) -> None:
    words = [sys.executable, "-I", "-S", "-c", SERVER, f"@{FILE}#{note}", note, str(LEFT_OVER_S)]
    child = subprocess.Popen(
        words, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    child.stdout.readline()


CARRIERS: dict[str, tuple[Callable[[], list[str]], Callable[[str], None]]] = {
    "global": (global_notes.copy, global_notes.append),
    "/tmp": file_in("/tmp"),
    "own folder": file_in(str(Path(__file__).parent)),
    "home": file_in(os.environ.get("HOME", "/")),
    "/dev/shm": file_in("/dev/shm"),
    "System V memory": (system_v_notes, leave_in_system_v),
    "message queue": (queued_notes, leave_in_queue),
    "abstract socket": socket_at(f"\0{FILE}", socket.AF_UNIX),
    "path socket": socket_at(f"/tmp/{FILE}.socket", socket.AF_UNIX),
    "loopback": socket_at(("127.0.0.1", PORT), socket.AF_INET),
    "child": (child_notes, leave_child),
}


def arrivals() -> Iterator[tuple[str, str]]:
    """Yield the notes that have arrived, each after its carrier."""
    for carrier, (read, _) in CARRIERS.items():
        with contextlib.suppress(OSError, KeyError):
            for note in read():
                yield carrier, note


def clean() -> None:
    for folder in ("/tmp", os.environ.get("HOME", "/"), "/dev/shm"):
        Path(folder, FILE).unlink(missing_ok=True)
    Path(f"/tmp/{FILE}.socket").unlink(missing_ok=True)
    libc.shmctl(segment(), IPC_RMID, None)
    libc.mq_unlink(QUEUE)


if __name__ == "__main__":
    clean()
