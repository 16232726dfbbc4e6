"""Waits at a word of a page that all programs map, where others can count those that wait.

    holding.py AT HAND    waits in a process that is traced, which stops in place of ending

It imports no more than it needs, because a magpie starts it for every hand that it sees.
"""

import ctypes
import os
import sys
import time
from functools import cache

FUTEX = 202 if os.uname().machine == "x86_64" else 98
PTRACE = 101 if os.uname().machine == "x86_64" else 117
LASTS_S = 60
"""Seconds after which what is left of the bot ends by itself."""

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p


@cache
def shared_page() -> int:
    file = os.open("/usr/bin/env", os.O_RDONLY)
    try:
        return int(libc.mmap(None, ctypes.c_size_t(4096), 1, 2, file, ctypes.c_long(0)))
    finally:
        os.close(file)


def word(at: int, hand: int) -> ctypes.c_void_p:
    return ctypes.c_void_p(shared_page() + 4 * ((at + hand) % 1024))


def hold(at: int, hand: int) -> None:
    """Wait at a word of the page until the time is up, however often somebody wakes us."""
    ends = time.monotonic() + LASTS_S
    place = word(at, hand)
    value = ctypes.c_uint32.from_address(place.value or 0).value
    while time.monotonic() < ends:
        second = (ctypes.c_long * 2)(1, 0)
        libc.syscall(FUTEX, place, 0, value, ctypes.byref(second), None, 0)


if __name__ == "__main__":
    libc.syscall(PTRACE, 0, 0, 0, 0)
    hold(*map(int, sys.argv[1:]))
