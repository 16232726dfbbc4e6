"""How fast contained bots can still pass on data, in bits per second.

The sandbox closes every channel that it can; see its README. The two bots measured have agreed on
everything beforehand. `lookups`, `cold pages` and `counters` do not need the bots to overlap in
time: a bot leaves marks for its own next match. The other channels work between bots that run at
the same time. Each rate is the capacity of a binary symmetric channel: bits written and read per
second, minus the loss from errors.
"""

import asyncio
import math
import os
import random
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from asara_server.tournament.bots.output import OutputLog
from asara_server.tournament.bots.process import BotProcess, build_environment
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.private_copy import CopySource, copy_into_memory
from asara_server.tournament.sandbox.probe import SandboxError, find_sandbox
from asara_server.tournament.sandbox.resources import ResourceLimits
from scripts.benchmark.figures import BenchError, Figure

_LIMITS = ResourceLimits(memory_mib=256, processes=64, open_files=256, cpu_s=60, disk_mib=8)

_HAND_BITS, _MATCH_S = 40, 10
"""Bits in a hand and seconds of a match, to show how useful a rate would be to a cheater."""

_COMMON = """
import ctypes, os, random, statistics, sys, threading, time
way, bits, mark = sys.argv[1], int(sys.argv[2]), sys.argv[3]
secret = random.Random(mark).choices((0, 1), k=bits)
slots = float(sys.argv[4])
def report(received, seconds):
    right = sum(one == other for one, other in zip(received, secret))
    print("RECEIVED", right, bits, seconds, flush=True)
def split(times):
    # The widest gap, as a ratio, between the quarter and the three quarters of all times.
    ordered = sorted(times)[len(times) // 4 : -len(times) // 4]
    return max((after / max(one, 1), one) for one, after in zip(ordered, ordered[1:]))[1]
"""

_LOOKUPS = """
if way == "send":
    for number, bit in enumerate(secret):
        if bit:
            os.path.lexists(f"/usr/bin/{mark}{number}")
else:
    times = []
    begun = time.perf_counter()
    for number in range(bits):
        name = f"/usr/bin/{mark}{number}".encode()
        one = time.perf_counter_ns()
        os.access(name, 0)
        times.append(time.perf_counter_ns() - one)
    seconds = time.perf_counter() - begun
    border = split(times)
    report([int(one <= border) for one in times], seconds)
"""

_PAGES = """
files = open("files").read().split("\\n")[:bits]
if way == "send":
    for name, bit in zip(files, secret):
        if bit:
            with open(name, "rb", buffering=0) as file:
                file.read(1)
else:
    times = []
    begun = time.perf_counter()
    for name in files:
        file = os.open(name, os.O_RDONLY)
        one = time.perf_counter_ns()
        os.pread(file, 1, 0)
        times.append(time.perf_counter_ns() - one)
        os.close(file)
    seconds = time.perf_counter() - begun
    border = split(times)
    report([int(one <= border) for one in times], seconds)
"""

_COUNTERS = """
def inode():
    ends = os.pipe()
    try:
        return os.fstat(ends[0]).st_ino
    finally:
        os.close(ends[0])
        os.close(ends[1])
step = 1 << 17
value = int("".join(map(str, secret)), 2)
if way == "send":
    begun = time.perf_counter()
    while inode() % (step << bits) // (step // 4) != 4 * value:
        for _ in range(100):
            for end in os.pipe():
                os.close(end)
    print("SPENT", time.perf_counter() - begun, flush=True)
else:
    found = inode() // step % (1 << bits)
    report([int(bit) for bit in format(found, f"0{bits}b")], 0.001)
"""

_FUTEXES = """
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
number = 202 if os.uname().machine == "x86_64" else 98
page = libc.mmap(None, ctypes.c_size_t(4096), 1, 2, os.open("/usr/bin/env", 0), ctypes.c_long(0))
def wake(word):
    while libc.syscall(number, ctypes.c_void_p(page + 4 * word), 1, 1, None, None, 0) != 1:
        pass
def wait(word):
    value = ctypes.c_uint32.from_address(page + 4 * word).value
    while libc.syscall(number, ctypes.c_void_p(page + 4 * word), 0, value, None, None, 0) != 0:
        pass
if way == "send":
    for bit in secret:
        wake(10 + bit)
        wait(12)
else:
    received = []
    def listen(bit):
        while True:
            wait(10 + bit)
            received.append(bit)
            wake(12)
    for bit in (0, 1):
        threading.Thread(target=listen, args=(bit,), daemon=True).start()
    while not received:
        time.sleep(0.0001)
    begun = time.perf_counter()
    while len(received) < bits:
        time.sleep(0.0001)
    report(received, time.perf_counter() - begun)
    os._exit(0)
"""

_LOAD = """
width = 0.1
while time.time() < slots:
    time.sleep(0.001)
if way == "send":
    for position, bit in enumerate(secret):
        end = slots + (position + 1) * width
        def spin():
            while time.time() < end:
                pass
        if bit:
            children = []
            for _ in range(os.cpu_count() or 1):
                child = os.fork()
                if not child:
                    spin()
                    os._exit(0)
                children.append(child)
            for child in children:
                os.waitpid(child, 0)
        while time.time() < end:
            time.sleep(0.001)
else:
    counts = []
    for position in range(bits):
        count = 0
        while time.time() < slots + (position + 1) * width:
            count += 1
        counts.append(count)
    border = statistics.median(counts)
    report([int(count < border) for count in counts], bits * width)
"""

_CHANNELS = {
    "lookups": (_LOOKUPS, 4_000, False),
    "cold pages": (_PAGES, 400, False),
    "counters": (_COUNTERS, 5, False),
    "futexes": (_FUTEXES, 2_000, True),
    "load": (_LOAD, 100, True),
}
"""Program, number of bits, and True if both bots run at the same time."""


def channels(quick: bool) -> list[Figure]:
    """Measure how much data two contained bots can still pass to each other."""
    try:
        sandbox = find_sandbox()
    except SandboxError as error:
        raise BenchError(str(error)) from None
    without = Sandbox(replace(sandbox.tools, cgroups=None))
    figures = []
    for name, (program, bits, together) in _CHANNELS.items():
        count = max(5, bits // 4) if quick else bits
        figures.append(_measure(name, sandbox, program, count, together))
        if not together and program != _COUNTERS:
            title = f"{name}, no control groups"
            figures.append(_measure(title, without, program, count, together))
    return figures


def _measure(name: str, sandbox: Sandbox, program: str, bits: int, together: bool) -> Figure:
    with TemporaryDirectory() as folder:
        path = Path(folder, "bot")
        path.mkdir()
        (path / "main.py").write_text(_COMMON + program)
        (path / "files").write_text("\n".join(_cold_files(bits) if program == _PAGES else []))
        copied = copy_into_memory(CopySource(((path, path),)), 8)
        spec = SandboxSpec(sandbox, _LIMITS, path, copied=copied)
        right, seconds = asyncio.run(_pass_on(spec, path, bits, together))
    print(f"{name}: {right} of {bits} bits right", file=sys.stderr)
    rate = _rate(right, bits, seconds)
    peer = "a hand of 40 bits in 10 s"
    return Figure(f"channel: {name}", rate, "bit/s", peer, _HAND_BITS / _MATCH_S)


def _rate(right: int, total: int, seconds: float) -> float:
    """Return the capacity of a binary symmetric channel with this error rate.

    Two standard deviations are added to the error rate, because guessed bits also agree by chance.
    """
    error = min(right, total - right) / total + 1 / math.sqrt(total) * (right < total)
    if error >= 1 / 2:
        return 0.0
    entropy = -error * math.log2(error) - (1 - error) * math.log2(1 - error) if error else 0.0
    return total / seconds * (1 - entropy)


def _cold_files(count: int) -> list[str]:
    """Return system files that are not cached in memory."""
    found = []
    for path in sorted(Path("/usr/share").rglob("*")):
        with suppress(OSError):
            if path.is_file() and not path.is_symlink() and path.stat().st_size > 4096:
                with path.open("rb") as file:
                    _drop(file.fileno())
                found.append(str(path))
        if len(found) == count:
            return found
    raise BenchError("too few files in /usr/share")


def _drop(descriptor: int) -> None:
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


async def _pass_on(spec: SandboxSpec, folder: Path, bits: int, together: bool) -> tuple[int, float]:
    mark = f"mark{random.getrandbits(64):x}"
    start = time.time() + 2

    async def bot(way: str) -> str:
        log = OutputLog(folder.parent / way, 10_000)
        process = await BotProcess.start(
            ["python", "main.py", way, str(bits), mark, str(start)],
            *(folder, build_environment({}), log, spec),
        )
        try:
            await process.wait()
            return "\n".join(log.last_lines())
        finally:
            await process.stop()
            log.close()

    spent = 0.0
    if together:
        _, printed = await asyncio.gather(bot("send"), bot("receive"))
    else:
        sent = await bot("send")
        spent = sum(float(line.split()[1]) for line in sent.splitlines() if "SPENT" in line)
        printed = await bot("receive")
    words = [line.split() for line in printed.splitlines() if line.startswith("RECEIVED")]
    if not words:
        raise BenchError(f"a bot failed: {printed}")
    return int(words[0][1]), float(words[0][3]) + spent
