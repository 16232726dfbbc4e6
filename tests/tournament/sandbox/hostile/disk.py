"""Fills every folder that it can write to, then plays normally."""

import contextlib
import os
from pathlib import Path

import asara

MIB = 1 << 20
for folder in ("/tmp", "/dev/shm", "/", ".", "/usr", "/var/tmp", "/run", "/dev", "/etc"):
    written = 0
    with contextlib.suppress(OSError):
        for number in range(1000):
            with Path(folder, f"file{number}").open("wb", buffering=0) as file:
                for _ in range(64):
                    written += file.write(bytes(MIB))
    print(f"wrote {written // MIB} MiB to {folder}", flush=True)
    for path in Path(folder).glob("file*"):
        with contextlib.suppress(OSError):
            path.unlink()
with contextlib.suppress(OSError):
    memory = os.memfd_create("memory")
    written = 0
    for _ in range(1000):
        written += os.write(memory, bytes(MIB))
print(f"wrote {written // MIB} MiB to memory", flush=True)
os.close(memory)

asara.run(lambda decision, match: decision.legal_actions[0])
