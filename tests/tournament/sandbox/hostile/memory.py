"""Takes memory in the way that its argument names, and reports it if it got everything."""

import mmap
import os
import signal
import sys

MIB = 1 << 20
PIECE_MB = 16
way = sys.argv[1]
held: list[object] = []
children: list[int] = []


def eat() -> None:
    piece = os.urandom(16) * (PIECE_MB * MIB // 16)
    if way == "shared":
        block = mmap.mmap(-1, len(piece))
        block.write(piece)
        held.append(block)
    else:
        held.append(piece)


for _ in range(0, int(os.environ["MUCH_MB"]), PIECE_MB):
    if way != "children":
        eat()
    else:
        ate, write = os.pipe()
        if os.fork() == 0:
            eat()
            os.write(write, b".")
            signal.pause()
        os.close(write)
        children.append(ate)
if all(os.read(ate, 1) for ate in children):
    print("REACHED all of it", flush=True)
