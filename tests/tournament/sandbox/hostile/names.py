"""Stores bits as lookups of names that do not exist ("store BITS"), or reads them ("load BITS").

"keep BITS" stores them and waits. Loading prints how many of the bits it would have guessed right
from the times that lookups take.
"""

import os
import signal
import sys
import time

order, bits = sys.argv[1:]
names = [f"/usr/bin/mark-of-a-bot-{number}".encode() for number in range(len(bits))]
if order in {"store", "keep"}:
    for name, bit in zip(names, bits, strict=True):
        if bit == "1":
            os.access(name, 0)
    print("STORED", flush=True)
    if order == "keep":
        signal.pause()
else:
    times = []
    for name in names:
        begun = time.perf_counter_ns()
        os.access(name, 0)
        times.append(time.perf_counter_ns() - begun)
    border = sorted(times)[len(times) // 2]  # half of the bits are 1
    right = sum((one < border) == (bit == "1") for one, bit in zip(times, bits, strict=True))
    print(f"RIGHT {right}", flush=True)
