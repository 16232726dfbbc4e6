"""Stores bits as cached pages of the file named first ("store BITS"), or reads them ("load N").

A page is dropped from the cache for 0 and read for 1. Reading them back asks `mincore` or, if that
is refused, measures how long it takes to read a byte of each page.
"""

import ctypes
import mmap
import os
import sys
import time

PAGE = 4096
STEP = 64 * PAGE
"""Distance between the pages, so that reading one ahead does not load the next."""

path, order, argument = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
file = os.open(path, os.O_RDONLY)
if order == "store":
    for attempt in (lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM), lambda: None):
        try:
            attempt()
        except OSError as error:
            print(f"refused fadvise: {error}", flush=True)
    for number, bit in enumerate(argument):
        if bit == "1":
            os.pread(file, 1, number * STEP)
            continue
        try:
            os.posix_fadvise(file, number * STEP, PAGE, os.POSIX_FADV_DONTNEED)
        except OSError as error:
            print(f"refused fadvise: {error}", flush=True)
else:
    count = int(argument)
    size = count * STEP
    memory = mmap.mmap(file, size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
    libc.mmap.restype = ctypes.c_void_p
    start = libc.mmap(None, ctypes.c_size_t(size), 1, 1, file, ctypes.c_long(0))
    pages = (ctypes.c_ubyte * (size // PAGE))()
    if libc.mincore(ctypes.c_void_p(start), ctypes.c_size_t(size), pages) == 0:
        bits = "".join(str(pages[number * STEP // PAGE] & 1) for number in range(count))
    else:
        print(f"refused mincore: {os.strerror(ctypes.get_errno())}", flush=True)
        bits = ""
        for number in range(count):
            begun = time.perf_counter_ns()
            os.pread(file, 1, number * STEP)
            bits += "1" if time.perf_counter_ns() - begun < 20_000 else "0"
    print(f"LOADED {bits}", flush=True)
