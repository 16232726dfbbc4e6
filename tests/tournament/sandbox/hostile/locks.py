"""Sends bits as locks on bytes of a system file ("send BITS"), or receives them ("receive N")."""

import fcntl
import signal
import struct
import sys

GET, SET = 36, 37
"""F_OFD_GETLK and F_OFD_SETLK."""
LAYOUT = "hhqqi4x"

order, argument = sys.argv[1:]
with open("/usr/bin/env", "rb") as file:  # noqa: PTH123
    if order == "send":
        for number, bit in enumerate(argument):
            if bit == "1":
                lock = struct.pack(LAYOUT, fcntl.F_RDLCK, 0, number, 1, 0)
                fcntl.fcntl(file, SET, lock)
        fcntl.flock(file, fcntl.LOCK_EX)
        print("SENT", flush=True)
        signal.pause()
    else:
        bits = ""
        for number in range(int(argument)):
            lock = struct.pack(LAYOUT, fcntl.F_WRLCK, 0, number, 1, 0)
            kind = struct.unpack(LAYOUT, fcntl.fcntl(file, GET, lock))[0]
            bits += "0" if kind == fcntl.F_UNLCK else "1"
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            bits += " flock"
        print(f"RECEIVED {bits}", flush=True)
