"""A bot that is hard to end. It prints "clings" once all its processes are there.

It blocks signals, and its children are in sessions of their own, have no living parent, are stopped
or have closed nothing. With "hijack" it also has the first process of its PID namespace, if it may
attach to it, live on without bubblewrap. With "exit" it ends itself and leaves the others behind.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_ATTACH, _DETACH, _STEP = 16, 17, 9
_GET_REGISTERS, _SET_REGISTERS, _PEEK, _POKE = 12, 13, 1, 4
_RAX, _RSI, _RDI, _ORIGINAL_RAX, _RIP = 10, 13, 14, 15, 16
_PRCTL, _SETSID = 157, 112
_PARENT_DEATH_SIGNAL = 1
_SYSCALL = 0x050F


def start(what: Callable[[], object]) -> None:
    """Start a child that does this and then stays."""
    if os.fork() == 0:
        what()
        os.write(there, b".")
        stay()


def stay() -> None:
    while True:
        signal.pause()


def leave_twice() -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.setsid()


def stop() -> None:
    os.write(there, b".")
    os.kill(os.getpid(), signal.SIGSTOP)


def hijack() -> None:
    """Have process 1 call setsid and forget what to do when bubblewrap ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def trace(request: int, address: int = 0, data: object = None) -> int:
        ctypes.set_errno(0)
        done = int(libc.ptrace(request, 1, address, data))
        if done == -1 and ctypes.get_errno():
            raise OSError(ctypes.get_errno(), "ptrace")
        return done

    trace(_ATTACH)
    os.waitpid(1, 0x40000000)
    before = (ctypes.c_ulong * 27)()
    trace(_GET_REGISTERS, 0, before)
    code = trace(_PEEK, before[_RIP])
    trace(_POKE, before[_RIP], (code & ~0xFFFF) | _SYSCALL)
    for number, argument in ((_PRCTL, _PARENT_DEATH_SIGNAL), (_SETSID, 0)):
        registers = (ctypes.c_ulong * 27)(*before)
        registers[_RAX], registers[_ORIGINAL_RAX] = number, 2**64 - 1
        registers[_RDI], registers[_RSI] = argument, 0
        trace(_SET_REGISTERS, 0, registers)
        trace(_STEP)
        os.waitpid(1, 0x40000000)
    trace(_POKE, before[_RIP], code)
    trace(_SET_REGISTERS, 0, before)
    trace(_DETACH)


if __name__ == "__main__":
    arrivals, there = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    children = (lambda: None, os.setsid, leave_twice, stop)
    for child in children:
        start(child)
    for _ in children:
        os.read(arrivals, 1)
    if "hijack" in sys.argv:
        hijack()
    print("clings", flush=True)
    if "exit" not in sys.argv:
        stay()
