"""Stores a number as times of devices and of inherited files ("store N"), or loads it ("load")."""

import os
import sys

order = sys.argv[1]
devices = ("null", "zero", "full", "random", "urandom", "tty")
places = [f"/dev/{name}" for name in devices]
places += [f"/proc/{pid}/fd/{number}" for pid in ("self", "1") for number in range(10)]
number = int(sys.argv[2]) if order == "store" else 0
changed, found = [], []
for place in places:
    try:
        if order == "store":
            for change in (
                lambda: os.utime(place, ns=(number, number)),
                lambda: os.utime(place),
                lambda: os.chmod(place, os.stat(place).st_mode & 0o7777),
            ):
                try:
                    change()
                except OSError:
                    continue
                changed.append(os.path.realpath(place))
        about = os.stat(place)
        found.append((place, about.st_mtime_ns, about.st_atime_ns, about.st_ctime_ns))
    except OSError:
        continue
print("CHANGED", *[place for place in changed if "pipe:" not in place])
print("FOUND", found)
