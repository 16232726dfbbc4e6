"""Stores a number as times of devices and of inherited files ("store N"), or loads it ("load")."""

import os
import sys
from contextlib import suppress
from pathlib import Path

order = sys.argv[1]
places = [Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom", "tty")]
places += [Path("/proc", pid, "fd", str(n)) for pid in ("self", "1") for n in range(10)]
changed, found = [], []
for place in places:
    with suppress(OSError):
        if order == "store":
            number = int(sys.argv[2])
            with suppress(OSError):
                place.chmod(place.stat().st_mode & 0o7777)
                changed.append(os.path.realpath(place))
            with suppress(OSError):
                os.utime(place)
                changed.append(os.path.realpath(place))
            with suppress(OSError):
                os.utime(place, ns=(number, number))
                changed.append(os.path.realpath(place))
        about = place.stat()
        found.append((str(place), about.st_mtime_ns, about.st_atime_ns, about.st_ctime_ns))
print("CHANGED", *[place for place in changed if "pipe:" not in place])
print("FOUND", found)
