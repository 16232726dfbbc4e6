"""The filter of system calls that bubblewrap applies to sandboxed programs.

No namespace isolates what the refused calls reach. Keyrings belong to the organiser and are shared
by everything that she starts; memory from `shmget` counts for no process; the others are large
parts of the kernel that no bot needs. A refused call fails with "Operation not permitted".
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
"""Names of the refused calls; the tables below list their numbers in the same order."""

_NUMBERS: Final = {
    _X86_64: (248, 321, 425, 250, 298, 249, 29, 323),
    _I386: (286, 357, 425, 288, 336, 287, 395, 374),
    _AARCH64: (217, 280, 425, 219, 241, 218, 194, 282),
}

_X32_BIT: Final = 0x40000000
"""Bit in the numbers of the x32 interface of x86-64, which hardly any system offers."""
_IPC: Final = 117
"""The number that all System V calls share in the i386 interface."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET = 0, 4
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM


def seccomp_filter() -> bytes | None:
    """Return the filter as a BPF program, or None on a big-endian machine.

    The program allows every call on processors that it does not know.
    """
    if sys.byteorder != "little":
        return None
    program = [_instruction(_LOAD, _ARCHITECTURE_OFFSET)]
    for architecture, numbers in _NUMBERS.items():
        refused = [*numbers, _IPC] if architecture == _I386 else list(numbers)
        checks = [_instruction(_LOAD, _NUMBER_OFFSET)]
        if architecture == _X86_64:
            checks += [_instruction(_AT_LEAST, _X32_BIT, 0, 1), _instruction(_RETURN, _REFUSE)]
        for number in refused:
            checks += [_instruction(_EQUAL, number, 0, 1), _instruction(_RETURN, _REFUSE)]
        checks.append(_instruction(_RETURN, _ALLOW))
        program += [_instruction(_EQUAL, architecture, 0, len(checks)), *checks]
    program.append(_instruction(_RETURN, _ALLOW))
    return b"".join(program)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
