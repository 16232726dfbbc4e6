"""Takes leases on the files that a Python bot opens as it starts, and keeps them."""

import fcntl
import os
import signal
from pathlib import Path

leased = []
for file in [*Path(os.__file__).parent.glob("*.py"), Path("/bin/sh"), Path("/usr/bin/env")]:
    for kind in (fcntl.F_WRLCK, fcntl.F_RDLCK):
        one = file.open("rb")
        try:
            fcntl.fcntl(one, fcntl.F_SETLEASE, kind)
            leased.append(one)
            break
        except OSError:
            one.close()
print(f"{'REACHED' if leased else 'refused'} leases: {len(leased)}", flush=True)
signal.pause()
