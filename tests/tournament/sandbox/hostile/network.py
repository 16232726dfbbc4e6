"""Dials everything except the referee, then plays normally."""

import os
import socket

import asara

ADDRESSES: list[tuple[int, tuple[str, int] | str]] = [
    (socket.AF_INET, ("127.0.0.1", int(os.environ["HOST_PORT"]))),
    (socket.AF_INET, ("198.51.100.1", 80)),
    (socket.AF_UNIX, "\0" + os.environ["HOST_ABSTRACT"]),
    (socket.AF_UNIX, os.environ["HOST_SOCKET"]),
]
for family, address in ADDRESSES:
    try:
        with socket.socket(family) as one:
            one.settimeout(2)
            one.connect(address)
        print(f"REACHED {address!r}", flush=True)
    except OSError as error:
        print(f"refused {address!r}: {error}", flush=True)
try:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    print("REACHED a raw socket", flush=True)
except OSError as error:
    print(f"refused a raw socket: {error}", flush=True)

asara.run(lambda decision, match: decision.legal_actions[0])
