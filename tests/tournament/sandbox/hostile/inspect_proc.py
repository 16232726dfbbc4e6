"""Prints a digest of every file of /proc outside the directories of processes."""

import hashlib
import os
from pathlib import Path

for folder, folders, files in os.walk("/proc"):
    if folder == "/proc":
        folders[:] = [name for name in folders if not name.isdigit()]
        folders[:] = [name for name in folders if name not in {"self", "thread-self", "net"}]
    for name in sorted(files):
        path = Path(folder, name)
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        except OSError as error:
            digest = str(error.errno)
        print(f"PROC {path} {digest}", flush=True)
