"""The filter of system calls that bubblewrap applies to sandboxed programs.

No namespace isolates what these calls reach. Most of them would let two bots exchange what they
know about hidden cards, or let a bot leave it for its own next match: they control or report which
pages of a shared file are in memory, lock a shared file, or read a counter of the whole machine.
Others reach the organiser's keyrings, hold memory that counts for no process, hold up everybody who
opens a file (leases), or are large parts of the kernel that no bot needs.

A filter sees numbers, not files, so a call is refused for all files. There are four answers:

- "Operation not permitted", or the error of a kernel that lacks the feature, which programs are
  prepared for;
- success without effect, for file locks and for flushing files to a disk. All files that a bot may
  write are in memory and private to it, so nothing is lost by it unless several processes of a bot
  rely on file locks among each other. `F_GETLK` reaches the kernel and reports that nothing is
  locked, which SQLite and others rely on;
- "Function not implemented", for every call that is newer than the ones listed here;
- the kernel's answer, for all others.

`sysinfo` is not refused although it reports the load, free memory and the number of processes: the
C library takes the size of the memory from it without looking at errors, and Java would choose the
size of its heap at random. Neither are futexes, which processes and threads need; they work across
sandboxes on the pages of a file that both map.

A call through the interface of another processor (i386 and x32 on x86-64) is always refused.
"""

import errno
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

_ALLOW: Final = 0x7FFF0000
_ERROR: Final = 0x00050000
"""Actions of seccomp. The low bits of an error are its number; 0 is success without effect."""

_REFUSE: Final = _ERROR | errno.EPERM
_NO_EFFECT: Final = _ERROR
_UNKNOWN: Final = _ERROR | errno.ENOSYS
_INVALID: Final = _ERROR | errno.EINVAL


class _Numbers(NamedTuple):
    """Number of a system call by processor; None if the processor lacks the call."""

    x86_64: int | None
    aarch64: int | None


@dataclass(frozen=True)
class _Switch:
    """A decision by the value of one argument."""

    argument: int
    cases: "Mapping[int, Decision]"
    default: int
    mask: int = 0xFFFFFFFF
    """Bits of the argument that count."""


Decision: TypeAlias = "int | _Switch"
"""An action of seccomp, or a switch that leads to one."""


REFUSED: Final = {
    "acct": _Numbers(163, 89),
    "add_key": _Numbers(248, 217),
    "bpf": _Numbers(321, 280),
    "fadvise64": _Numbers(221, 223),
    "fanotify_init": _Numbers(300, 262),
    "fanotify_mark": _Numbers(301, 263),
    "fstatfs": _Numbers(138, 44),  # free blocks of the disk, which other bots' output changes
    "get_mempolicy": _Numbers(239, 236),
    "inotify_add_watch": _Numbers(254, 27),
    "inotify_init": _Numbers(253, None),
    "inotify_init1": _Numbers(294, 26),
    "inotify_rm_watch": _Numbers(255, 28),
    "io_uring_enter": _Numbers(426, 426),
    "io_uring_register": _Numbers(427, 427),
    "io_uring_setup": _Numbers(425, 425),
    "ioprio_get": _Numbers(252, 31),  # may consider all processes of a user
    "ioprio_set": _Numbers(251, 30),
    "keyctl": _Numbers(250, 219),
    "lookup_dcookie": _Numbers(212, 18),
    "mbind": _Numbers(237, 235),
    "migrate_pages": _Numbers(256, 238),
    "mincore": _Numbers(27, 232),
    "move_pages": _Numbers(279, 239),
    "mq_open": _Numbers(240, 180),  # counted for all processes of a user together
    "name_to_handle_at": _Numbers(303, 264),
    "open_by_handle_at": _Numbers(304, 265),
    "perf_event_open": _Numbers(298, 241),
    "pidfd_open": _Numbers(434, 434),  # their inode numbers count all processes of the machine
    "process_madvise": _Numbers(440, 440),
    "quotactl": _Numbers(179, 60),
    "quotactl_fd": _Numbers(443, 443),
    "readahead": _Numbers(187, 213),
    "request_key": _Numbers(249, 218),
    "set_mempolicy": _Numbers(238, 237),
    "shmget": _Numbers(29, 194),
    "statfs": _Numbers(137, 43),
    "syslog": _Numbers(103, 116),  # the kernel reports crashes of all programs there
    "userfaultfd": _Numbers(323, 282),
    "ustat": _Numbers(136, None),
}
"""Calls that fail with "Operation not permitted"."""

WITHOUT_EFFECT: Final = {
    "fdatasync": _Numbers(75, 83),
    "flock": _Numbers(73, 32),
    "fsync": _Numbers(74, 82),
    "msync": _Numbers(26, 227),
    "sync": _Numbers(162, 81),
    "sync_file_range": _Numbers(277, 84),
    "syncfs": _Numbers(306, 267),
}
"""Calls that succeed without doing anything."""

_OPENAT2: Final = 437
"""Its flags are in memory, where a filter does not see them."""
_FIRST_UNKNOWN: Final = 447
"""This call and all newer ones are answered as by a kernel without them; `cachestat` is 451."""
_X32_BIT: Final = 0x40000000
"""Bit in the numbers of the x32 interface of x86-64."""

_GET_LOCK_COMMANDS: Final = (5, 36)
_LOCK_COMMANDS: Final = (6, 7, 37, 38)
"""F_SETLK, F_SETLKW and the same for open file descriptions."""
_SET_FLAGS: Final = 4
_FCNTL_COMMANDS: Final = (
    *(0, 1, 2, 3),  # descriptors and their flags
    *(8, 9, 10, 11, 15, 16),  # owners of signals
    *(1027, 1028, 1030),  # further ones of descriptors
    *(1031, 1032, 1033, 1034),  # sizes of pipes, seals of files in memory
    *_GET_LOCK_COMMANDS,
)
"""Commands of fcntl that reach the kernel: no leases, notifications or hints about files."""

_CLONE3: Final = 435
"""Its flags are in memory as well; the C library calls `clone` if the kernel lacks it."""
_CLONE_PIDFD: Final = 0x1000

_MADVISE_WILLNEED: Final = 3
_MADVICE: Final = (0, 1, 2, 4, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 22, 23, 24, 102, 103)
"""Advice that does not page out, merge or collapse memory that others share."""

_TERMINAL_IOCTLS, _SOCKET_IOCTLS = 0x5400, 0x8900
_FAKED_INPUT: Final = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX."""

_UNIX, _INET, _INET6 = 1, 2, 10
_PROTOCOLS: Final = (0, 1, 6, 17, 58)
"""Internet protocols that load no module into the kernel: ICMP, TCP, UDP."""
_MAP_HUGETLB, _MEMFD_HUGETLB = 0x40000, 0x4


def _allow(*values: int) -> dict[int, Decision]:
    return dict.fromkeys(values, _ALLOW)


def _switches(direct: int) -> dict[_Numbers, _Switch]:
    """Return the calls that are decided by their arguments; `direct` is the value of O_DIRECT."""
    not_direct = dict[int, Decision]({0: _ALLOW})
    internet = _Switch(2, _allow(*_PROTOCOLS), _ERROR | errno.EPROTONOSUPPORT)
    families = _allow(_UNIX) | {_INET: internet, _INET6: internet}
    no_family = _ERROR | errno.EAFNOSUPPORT
    no_option = _ERROR | errno.ENOPROTOOPT
    return {
        _Numbers(72, 25): _Switch(  # fcntl
            1,
            _allow(*_FCNTL_COMMANDS)
            | dict.fromkeys(_LOCK_COMMANDS, _NO_EFFECT)
            | {_SET_FLAGS: _Switch(2, not_direct, _INVALID, mask=direct)},
            _INVALID,
        ),
        _Numbers(56, 220): _Switch(0, {0: _ALLOW}, _INVALID, mask=_CLONE_PIDFD),  # clone
        _Numbers(2, None): _Switch(1, not_direct, _INVALID, mask=direct),  # open
        _Numbers(257, 56): _Switch(2, not_direct, _INVALID, mask=direct),  # openat
        _Numbers(28, 233): _Switch(  # madvise
            2, _allow(*_MADVICE) | {_MADVISE_WILLNEED: _NO_EFFECT}, _INVALID
        ),
        _Numbers(9, 222): _Switch(  # mmap: pages of a pool that all programs share
            3, {0: _ALLOW}, _ERROR | errno.ENOMEM, mask=_MAP_HUGETLB
        ),
        _Numbers(319, 279): _Switch(1, {0: _ALLOW}, _INVALID, mask=_MEMFD_HUGETLB),
        _Numbers(16, 29): _Switch(  # ioctl; those of file systems store and report states of files
            1,
            {
                _TERMINAL_IOCTLS: _Switch(1, dict.fromkeys(_FAKED_INPUT, _REFUSE), _ALLOW),
                _SOCKET_IOCTLS: _ALLOW,
            },
            _ERROR | errno.ENOTTY,
            mask=0xFF00,
        ),
        _Numbers(327, 286): _Switch(5, {0: _ALLOW}, _ERROR | errno.EOPNOTSUPP),  # preadv2
        _Numbers(328, 287): _Switch(5, {0: _ALLOW}, _ERROR | errno.EOPNOTSUPP),  # pwritev2
        _Numbers(41, 198): _Switch(0, families, no_family),  # socket
        _Numbers(53, 199): _Switch(0, _allow(_UNIX), no_family),  # socketpair
        _Numbers(55, 209): _Switch(  # getsockopt: numbers that count all sockets and processes
            1,
            # SO_COOKIE, SO_NETNS_COOKIE, SO_PEERPIDFD
            {1: _Switch(2, dict.fromkeys((57, 71, 77), no_option), _ALLOW)},
            _ALLOW,
        ),
        _Numbers(54, 208): _Switch(  # setsockopt: memory counted for a user, modules to load
            1,
            {
                1: _Switch(2, {60: no_option, 76: no_option}, _ALLOW),  # SO_ZEROCOPY, SO_PASSPIDFD
                6: _Switch(2, {13: no_option, 31: no_option}, _ALLOW),  # TCP_CONGESTION, TCP_ULP
            },
            _ALLOW,
        ),
        _Numbers(157, 167): _Switch(  # prctl
            0,
            {62: _INVALID, 67: _INVALID},  # PR_SCHED_CORE, PR_SET_MEMORY_MERGE
            _ALLOW,
        ),
    }


_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16


class _Processor(NamedTuple):
    audit_architecture: int
    open_direct: int
    """Value of O_DIRECT."""
    column: int
    """Index in `_Numbers`."""


_PROCESSORS: Final = {
    "x86_64": _Processor(0xC000003E, 0o40000, 0),
    "aarch64": _Processor(0xC00000B7, 0o200000, 1),
}


def seccomp_filter() -> bytes | None:
    """Return the filter as a BPF program, or None for a processor whose calls it does not know."""
    processor = _PROCESSORS.get(platform.machine())
    if processor is None:
        return None
    decisions: dict[int, Decision] = {}
    tables: tuple[tuple[Mapping[str, _Numbers], int], ...] = (
        (REFUSED, _REFUSE),
        (WITHOUT_EFFECT, _NO_EFFECT),
    )
    for table, action in tables:
        for numbers in table.values():
            if (number := numbers[processor.column]) is not None:
                decisions[number] = action
    for numbers, switch in _switches(processor.open_direct).items():
        if (number := numbers[processor.column]) is not None:
            decisions[number] = switch
    program = [
        _instruction(_LOAD, _ARCHITECTURE_OFFSET),
        _instruction(_EQUAL, processor.audit_architecture, 1, 0),
        _instruction(_RETURN, _REFUSE),
        _instruction(_LOAD, _NUMBER_OFFSET),
        _instruction(_AT_LEAST, _X32_BIT, 0, 1),
        _instruction(_RETURN, _REFUSE),
        _instruction(_AT_LEAST, _FIRST_UNKNOWN, 0, 1),
        _instruction(_RETURN, _UNKNOWN),
        _instruction(_EQUAL, _OPENAT2, 0, 1),
        _instruction(_RETURN, _UNKNOWN),
        _instruction(_EQUAL, _CLONE3, 0, 1),
        _instruction(_RETURN, _UNKNOWN),
    ]
    for number, decision in decisions.items():
        program += _if_equal(number, decision)
    program.append(_instruction(_RETURN, _ALLOW))
    return b"".join(program)


def _if_equal(value: int, decision: Decision) -> list[bytes]:
    """Return instructions that decide if the loaded word equals `value`, and are skipped if not."""
    body = _decide(decision)
    return [_instruction(_EQUAL, value, 0, len(body)), *body]


def _decide(decision: Decision) -> list[bytes]:
    """Return instructions of which one always returns an action."""
    if isinstance(decision, int):
        return [_instruction(_RETURN, decision)]
    program = [
        _instruction(_LOAD, _ARGUMENTS_OFFSET + 8 * decision.argument),  # its low word
        _instruction(_AND, decision.mask),
    ]
    for value, inner in decision.cases.items():
        program += _if_equal(value, inner)
    return [*program, _instruction(_RETURN, decision.default)]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
