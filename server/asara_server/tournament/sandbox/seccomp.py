"""System calls that a sandboxed program is refused: the filter, as bubblewrap takes it.

No name space separates what these reach. Keyrings are the organiser's own and shared among all that
she starts; what `shmget` makes is memory that counts for no process; the others are large parts of
the kernel that no bot needs. A refused call fails with "Operation not permitted".
"""

import errno
import struct
import sys
from typing import Final

_X86_64: Final = 0xC000003E
_I386: Final = 0x40000003
_AARCH64: Final = 0xC00000B7

REFUSED: Final = (
    "add_key",
    "bpf",
    "io_uring_setup",
    "keyctl",
    "perf_event_open",
    "request_key",
    "shmget",
    "userfaultfd",
)
"""By name; the tables below have their numbers in the same order."""

_NUMBERS: Final = {
    _X86_64: (248, 321, 425, 250, 298, 249, 29, 323),
    _I386: (286, 357, 425, 288, 336, 287, 395, 374),
    _AARCH64: (217, 280, 425, 219, 241, 218, 194, 282),
}

_X32_BIT: Final = 0x40000000
"""Marks the calls of a third interface of x86-64, which hardly any system offers."""
_IPC: Final = 117
"""One number for all System V calls in the i386 interface."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM


def seccomp_filter() -> bytes | None:
    """The filter as a program for the kernel's packet filter; none for other processors."""
    if sys.byteorder != "little":
        return None
    program = [_step(_LOAD, _ARCHITECTURE_AT)]
    for architecture, numbers in _NUMBERS.items():
        refused = [*numbers, _IPC] if architecture == _I386 else list(numbers)
        checks = [_step(_LOAD, _NUMBER_AT)]
        if architecture == _X86_64:
            checks += [_step(_AT_LEAST, _X32_BIT, 0, 1), _step(_RETURN, _REFUSE)]
        for number in refused:
            checks += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _REFUSE)]
        checks.append(_step(_RETURN, _ALLOW))
        program += [_step(_EQUAL, architecture, 0, len(checks)), *checks]
    program.append(_step(_RETURN, _ALLOW))
    return b"".join(program)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
