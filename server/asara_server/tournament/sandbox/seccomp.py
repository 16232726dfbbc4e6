"""The filter of system calls that bubblewrap applies to sandboxed programs.

The filter lists the allowed calls, so a call that nobody thought of is refused. There are four
answers:

- the kernel's answer, for the calls in `ALLOWED`, some of them for certain arguments only;
- "Operation not permitted", or the error of a kernel that lacks the feature, for the calls in
  `REFUSED`, whose errors programs are prepared for;
- success without effect, for file locks and for flushing files to a disk. All files that a bot may
  write are in memory and private to it, so nothing is lost by it unless several processes of a bot
  rely on file locks among each other. `F_GETLK` reaches the kernel and reports that nothing is
  locked, which SQLite and others rely on;
- "Function not implemented", for all other calls: new ones; `clone3` and `openat2`, whose flags are
  in memory, where a filter does not see them; the ones that reach into other processes (`ptrace`,
  `process_vm_readv`, `kcmp`) or namespaces (`mount`, `unshare`); the ones that no bot needs (AIO).

A filter sees numbers, not files, so a call is refused for all files. No namespace isolates the
state that refused calls reach. Through most of these calls, two bots could tell each other about
hidden cards, or a bot could leave a message for its own next match. Other calls would use up
resources of the whole machine, delay everybody who opens a file (leases), or are large parts of the
kernel that no bot needs.

A program that writes directly to a directory of this machine cannot make set-uid or set-gid files
there, which other users could start. Setting the set-uid bit is refused. Setting the set-gid bit
has no effect instead of failing, because programs that copy folders set the inherited bit.

A call through another processor's interface (i386 and x32 on x86-64) is always refused.
"""

import errno
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

_ALLOW: Final = 0x7FFF0000
_ERROR: Final = 0x00050000
"""Actions of seccomp. An error's low bits are its number; 0 means success without effect."""

_REFUSE: Final = _ERROR | errno.EPERM
_NO_EFFECT: Final = _ERROR
_UNKNOWN: Final = _ERROR | errno.ENOSYS
_INVALID: Final = _ERROR | errno.EINVAL


class Numbers(NamedTuple):
    """Number of a system call, by processor; None if the processor lacks the call."""

    x86_64: int | None
    aarch64: int | None


@dataclass(frozen=True)
class _Switch:
    """A decision based on the value of one argument."""

    argument: int
    cases: "Mapping[int, Decision]"
    default: "Decision"
    mask: int = 0xFFFFFFFF
    """Bits of the argument that matter."""


Decision: TypeAlias = "int | _Switch"
"""An action of seccomp, or a switch that leads to one."""


def _calls(table: str) -> dict[str, Numbers]:
    """Parse a table such as "read 0 63, open 2 -", with numbers on x86-64 and ARM64."""
    calls = {}
    for row in table.split(","):
        name, *numbers = row.split()
        calls[name] = Numbers(*(None if one == "-" else int(one) for one in numbers))
    return calls


INSIDE: Final = {
    "its memory": _calls("""
        brk 12 214, madvise 28 233, mlock 149 228, mlock2 325 284, mlockall 151 230,
        mprotect 10 226, mremap 25 216, munlock 150 229, munlockall 152 231, munmap 11 215,
        pkey_alloc 330 289, pkey_free 331 290, pkey_mprotect 329 288
    """),
    "its threads": _calls("""
        arch_prctl 158 -, exit 60 93, gettid 186 178, prctl 157 167, restart_syscall 219 128,
        rseq 334 293, seccomp 317 277, set_robust_list 273 99, set_tid_address 218 96
    """),
    "its processes and their signals": _calls("""
        exit_group 231 94, getpgid 121 155, getpgrp 111 -, getpid 39 172, getppid 110 173,
        getsid 124 156, pause 34 -, rt_sigaction 13 134, rt_sigpending 127 136,
        rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigsuspend 130 133, rt_sigtimedwait 128 137,
        setpgid 109 154, sigaltstack 131 132, wait4 61 260, waitid 247 95
    """),
    "its user, without any capability": _calls("""
        capget 125 90, getegid 108 177, geteuid 107 175, getgid 104 176, getgroups 115 158,
        getresgid 120 150, getresuid 118 148, getuid 102 174, personality 135 92, setfsgid 123 152,
        setfsuid 122 151, setgid 106 144, setgroups 116 159, setregid 114 143, setresgid 119 149,
        setresuid 117 147, setreuid 113 145, setuid 105 146, umask 95 166, uname 63 160
    """),
    "its limits": _calls("""
        getrlimit 97 163, getrusage 98 165, prlimit64 302 261, setrlimit 160 164, times 100 153
    """),
    "its descriptors and files": _calls("""
        chdir 80 49, chmod 90 -, chown 92 -, close 3 57, close_range 436 436, dup 32 23, dup2 33 -,
        dup3 292 24, fallocate 285 47, fchdir 81 50, fchmod 91 52, fchmodat 268 53, fchown 93 55,
        fchownat 260 54, fremovexattr 199 16, fsetxattr 190 7, ftruncate 77 46, futimesat 261 -,
        getcwd 79 17, ioctl 16 29, lchown 94 -, link 86 -, linkat 265 37, lremovexattr 198 15,
        lseek 8 62, lsetxattr 189 6, mkdir 83 -, mkdirat 258 34, mknod 133 -, mknodat 259 33,
        pwrite64 18 68, pwritev 296 70, pwritev2 328 287, removexattr 197 14, rename 82 -,
        renameat 264 38, renameat2 316 276, rmdir 84 -, setxattr 188 5, symlink 88 -,
        symlinkat 266 36, tee 276 77, truncate 76 45, unlink 87 -, unlinkat 263 35, utime 132 -,
        utimensat 280 88, utimes 235 -, vmsplice 278 75, write 1 64, writev 20 66
    """),
    "waiting": _calls("""
        epoll_pwait 281 22, epoll_pwait2 441 441, epoll_wait 232 -, getitimer 36 102, poll 7 -,
        ppoll 271 73, pselect6 270 72, select 23 -, timer_delete 226 111, timer_getoverrun 225 109,
        timer_gettime 224 108, timer_settime 223 110, timerfd_gettime 287 87,
        timerfd_settime 286 86
    """),
    "its sockets, in its own network namespace": _calls("""
        bind 49 200, getpeername 52 205, getsockname 51 204, getsockopt 55 209, listen 50 201,
        recvfrom 45 207, recvmmsg 299 243, recvmsg 47 212, sendto 44 206, setsockopt 54 208,
        shutdown 48 210
    """),
    "its own IPC namespace": _calls("""
        msgctl 71 187, msgget 68 186, msgrcv 70 188, msgsnd 69 189, semctl 66 191, semget 64 190,
        semop 65 193, semtimedop 220 192
    """),
}
"""Calls that reach nothing outside the bot's namespaces, grouped by subject."""

OUTSIDE: Final = {
    (
        "the system's files, which all read, and their pages and names in memory: no program runs "
        "without"
    ): _calls("""
        access 21 -, copy_file_range 326 285, creat 85 -, execve 59 221, execveat 322 281,
        faccessat 269 48, faccessat2 439 439, fgetxattr 193 10, flistxattr 196 13, fstat 5 80,
        getdents 78 -, getdents64 217 61, getxattr 191 8, lgetxattr 192 9, listxattr 194 11,
        llistxattr 195 12, lstat 6 -, mmap 9 222, newfstatat 262 79, open 2 -, openat 257 56,
        pread64 17 67, preadv 295 69, preadv2 327 286, read 0 63, readlink 89 -, readlinkat 267 78,
        readv 19 65, sendfile 40 71, splice 275 76, stat 4 -, statx 332 291
    """),
    (
        "numbers of inodes, which descriptors draw from counters of the machine; limits and "
        "memory of a user's pipes and registrations with epoll: event loops and pipes need them"
    ): _calls("""
        accept 43 202, accept4 288 242, epoll_create 213 -, epoll_create1 291 20, epoll_ctl 233 21,
        eventfd 284 -, eventfd2 290 19, fcntl 72 25, memfd_create 319 279, pipe 22 -, pipe2 293 59,
        signalfd 282 -, signalfd4 289 74, socket 41 198, socketpair 53 199, timerfd_create 283 85
    """),
    "the referee, by its socket": _calls("""
        connect 42 203
    """),
    (
        "the number of a user's descriptors in flight: processes hand descriptors to each other"
    ): _calls("""
        sendmmsg 307 269, sendmsg 46 211
    """),
    "the number of a user's queued signals: processes, threads and timers send them": _calls("""
        alarm 37 -, kill 62 129, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240,
        setitimer 38 103, tgkill 234 131, timer_create 222 107, tkill 200 130
    """),
    "the numbers of processes and sessions of the machine: threads and children": _calls("""
        clone 56 220, fork 57 -, setsid 112 157, vfork 58 -
    """),
    "pages of files that several sandboxes map: threads wait for each other": _calls("""
        futex 202 98
    """),
    "all processors, by a barrier: runtimes with many threads": _calls("""
        membarrier 324 283
    """),
    "the machine's clocks, read-only": _calls("""
        clock_getres 229 114, clock_gettime 228 113, clock_nanosleep 230 115, gettimeofday 96 169,
        nanosleep 35 101, time 201 -
    """),
    "the processors' load: runtimes choose and yield processors": _calls("""
        getcpu 309 168, getpriority 140 141, sched_get_priority_max 146 125,
        sched_get_priority_min 147 126, sched_getaffinity 204 123, sched_getparam 143 121,
        sched_getscheduler 145 120, sched_rr_get_interval 148 127, sched_setaffinity 203 122,
        sched_setparam 142 118, sched_setscheduler 144 119, sched_yield 24 124, setpriority 141 140
    """),
    (
        "the machine's load, free memory and number of processes: the C library takes the size of "
        "the memory from it without looking at errors, and Java would choose the size of its heap "
        "at random"
    ): _calls("""
        sysinfo 99 179
    """),
    "the machine's random numbers, which nobody can predict": _calls("""
        getrandom 318 278
    """),
}
"""Calls that reach state outside the bot's namespaces, with that state and who needs the call."""

ALLOWED: Final = {
    name: numbers
    for calls in (*INSIDE.values(), *OUTSIDE.values())
    for name, numbers in calls.items()
}
"""Calls that reach the kernel, unless their arguments are refused; see `_by_arguments`."""

REFUSED: Final = _calls("""
    acct 163 89, add_key 248 217, bpf 321 280, fadvise64 221 223, fanotify_init 300 262,
    fanotify_mark 301 263, fstatfs 138 44, get_mempolicy 239 236, inotify_add_watch 254 27,
    inotify_init 253 -, inotify_init1 294 26, inotify_rm_watch 255 28, io_uring_enter 426 426,
    io_uring_register 427 427, io_uring_setup 425 425, ioprio_get 252 31, ioprio_set 251 30,
    keyctl 250 219, lookup_dcookie 212 18, mbind 237 235, migrate_pages 256 238, mincore 27 232,
    move_pages 279 239, mq_open 240 180, name_to_handle_at 303 264, open_by_handle_at 304 265,
    perf_event_open 298 241, pidfd_open 434 434, process_madvise 440 440, quotactl 179 60,
    quotactl_fd 443 443, readahead 187 213, request_key 249 218, set_mempolicy 238 237,
    shmget 29 194, statfs 137 43, syslog 103 116, userfaultfd 323 282, ustat 136 -
""")
"""Calls that fail with "Operation not permitted".

`fstatfs` and `statfs` report free blocks of the disk, which other bots' output changes. `ioprio_*`
concern all processes of a user, and the queues of `mq_open` are also counted per user. The inode
numbers of pidfds count all processes of the machine. The kernel reports crashes of all programs to
`syslog`.
"""

WITHOUT_EFFECT: Final = _calls("""
    fdatasync 75 83, flock 73 32, fsync 74 82, msync 26 227, sync 162 81, sync_file_range 277 84,
    syncfs 306 267
""")
"""Calls that succeed without doing anything."""

_X32_BIT: Final = 0x40000000
"""Bit that marks numbers of the x32 interface of x86-64."""

_GET_LOCK_COMMANDS: Final = (5, 36)
_LOCK_COMMANDS: Final = (6, 7, 37, 38)
"""F_SETLK, F_SETLKW, and their counterparts for open file descriptions."""
_SET_FLAGS: Final = 4
_FCNTL_COMMANDS: Final = (
    *(0, 1, 2, 3),  # descriptors and their flags
    *(8, 9, 10, 11, 15, 16),  # owners of signals
    *(1027, 1028, 1030),  # further commands for descriptors
    *(1031, 1032, 1033, 1034),  # sizes of pipes, seals of files in memory
    *_GET_LOCK_COMMANDS,
)
"""fcntl commands that reach the kernel: no leases, notifications or hints about files."""

_CREATES: Final = 0o20000100
"""O_CREAT, and the bit that distinguishes O_TMPFILE from O_DIRECTORY."""

_CLONE_PIDFD: Final = 0x1000
_CLONE_NAMESPACES: Final = 0x7E020000

_PRCTL_OPTIONS: Final = (
    *(1, 2, 3, 4),  # the signal that the parent's end sends; core dumps
    *(15, 16, 29, 30, 0x53564D41),  # names of threads and memory; slack of timers
    *(21, 22, 23, 36, 37, 38, 39, 47),  # filters and capabilities; orphans; no new privileges
    *(41, 42, 52, 53, 65, 66),  # huge pages, speculation, memory that is never executable
    *(50, 51, 54, 55, 56, 60, 61, 0x41555856),  # ARM64; the auxiliary vector
)

_MADVISE_WILLNEED: Final = 3
_MADVICE: Final = (0, 1, 2, 4, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 22, 23, 24, 102, 103)
"""Advice that does not page out, merge or collapse memory shared with others."""

_IOCTLS: Final = (0x5411, 0x541B, 0x5421, 0x5450, 0x5451, 0x5452)
"""ioctls for bytes in a pipe or socket, and for a descriptor's waiting, signals and inheritance."""
_FAKED_INPUT: Final = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which fake input to a terminal."""
_SOCKET_IOCTLS: Final = (
    *(0x8905, 0x8910, 0x8912, 0x8913, 0x8915, 0x8917, 0x8919, 0x891B, 0x891D, 0x8921),
    *(0x8927, 0x8933, 0x8942),
)
"""ioctls about urgent data and network devices. Those for bridges and VLANs load kernel modules."""

_UNIX, _INET, _INET6 = 1, 2, 10
_PROTOCOLS: Final = (0, 1, 6, 17, 58)
"""Internet protocols that load no kernel module: ICMP, TCP and UDP."""
_MAP_HUGETLB, _MEMFD_HUGETLB = 0x40000, 0x4


def _allow(*values: int) -> dict[int, Decision]:
    return dict.fromkeys(values, _ALLOW)


def _modes(argument: int) -> _Switch:
    """Return the decision about a mode argument: neither set-uid nor set-gid is ever set."""
    return _Switch(argument, {0: _ALLOW, 0o2000: _NO_EFFECT}, _REFUSE, mask=0o6000)


def _new_modes(argument: int) -> _Switch:
    """Return the decision about a new file's mode."""
    return _Switch(argument, {0: _ALLOW}, _REFUSE, mask=0o6000)


def _by_arguments(direct: int, *, loopback: bool, set_uid: bool) -> dict[str, _Switch]:
    """Return the calls of `ALLOWED` whose arguments decide.

    `direct` is the value of O_DIRECT. See `seccomp_filter` for the others.
    """
    not_direct = dict[int, Decision]({0: _ALLOW})
    opens = {"open": _Switch(1, not_direct, _INVALID, mask=direct)}
    opens["openat"] = _Switch(2, not_direct, _INVALID, mask=direct)
    modes: dict[str, _Switch] = {}
    if not set_uid:
        modes = {"chmod": _modes(1), "fchmod": _modes(1), "fchmodat": _modes(2)}
        modes |= {"creat": _new_modes(1), "mknod": _new_modes(1), "mknodat": _new_modes(2)}
        for name, flags in (("open", 1), ("openat", 2)):
            creates = _Switch(flags, {0: _ALLOW}, _new_modes(flags + 1), mask=_CREATES)
            opens[name] = _Switch(flags, {0: creates}, _INVALID, mask=direct)
    families = _allow(_UNIX)
    if loopback:
        internet = _Switch(2, _allow(*_PROTOCOLS), _ERROR | errno.EPROTONOSUPPORT)
        families |= {_INET: internet, _INET6: internet}
    no_family = _ERROR | errno.EAFNOSUPPORT
    no_option = _ERROR | errno.ENOPROTOOPT
    without_flags = _Switch(5, {0: _ALLOW}, _ERROR | errno.EOPNOTSUPP)
    same_namespaces = _Switch(0, {0: _ALLOW}, _REFUSE, mask=_CLONE_NAMESPACES)
    return {
        "clone": _Switch(0, {0: same_namespaces}, _INVALID, mask=_CLONE_PIDFD),
        "fcntl": _Switch(
            1,
            _allow(*_FCNTL_COMMANDS)
            | dict.fromkeys(_LOCK_COMMANDS, _NO_EFFECT)
            | {_SET_FLAGS: _Switch(2, not_direct, _INVALID, mask=direct)},
            _INVALID,
        ),
        "getsockopt": _Switch(  # numbers that count all sockets and processes
            1,
            # SO_COOKIE, SO_NETNS_COOKIE, SO_PEERPIDFD
            {1: _Switch(2, dict.fromkeys((57, 71, 77), no_option), _ALLOW)},
            _ALLOW,
        ),
        "ioctl": _Switch(  # file systems store and report states of files; there is no terminal
            1,
            _allow(*_IOCTLS, *_SOCKET_IOCTLS) | dict.fromkeys(_FAKED_INPUT, _REFUSE),
            _ERROR | errno.ENOTTY,
        ),
        "madvise": _Switch(2, _allow(*_MADVICE) | {_MADVISE_WILLNEED: _NO_EFFECT}, _INVALID),
        "memfd_create": _Switch(1, {0: _ALLOW}, _INVALID, mask=_MEMFD_HUGETLB),
        # Huge pages come from a pool that all programs share.
        "mmap": _Switch(3, {0: _ALLOW}, _ERROR | errno.ENOMEM, mask=_MAP_HUGETLB),
        **opens,
        **modes,
        "prctl": _Switch(0, _allow(*_PRCTL_OPTIONS), _INVALID),
        "preadv2": without_flags,
        "prlimit64": _Switch(0, {0: _ALLOW}, _REFUSE),  # its own process only, not PID 1
        "pwritev2": without_flags,
        "setsockopt": _Switch(  # memory counted for a user, modules to load
            1,
            {
                1: _Switch(2, {60: no_option, 76: no_option}, _ALLOW),  # SO_ZEROCOPY, SO_PASSPIDFD
                6: _Switch(2, {13: no_option, 31: no_option}, _ALLOW),  # TCP_CONGESTION, TCP_ULP
            },
            _ALLOW,
        ),
        "socket": _Switch(0, families, no_family),
        "socketpair": _Switch(0, _allow(_UNIX), no_family),
    }


_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16


class _Processor(NamedTuple):
    audit_architecture: int
    open_direct: int
    """Value of O_DIRECT."""
    column: int
    """Column of the processor in `Numbers`."""


_PROCESSORS: Final = {
    "x86_64": _Processor(0xC000003E, 0o40000, 0),
    "aarch64": _Processor(0xC00000B7, 0o200000, 1),
}


def seccomp_filter(*, loopback: bool = False, set_uid: bool = True) -> bytes | None:
    """Return the filter as a BPF program, or None for a processor whose calls are unknown.

    With `loopback`, programs can use internet sockets, which reach only their own loopback. Without
    `set_uid`, they cannot make set-uid or set-gid files.
    """
    processor = _PROCESSORS.get(platform.machine())
    if processor is None:
        return None
    program = [
        _instruction(_LOAD, _ARCHITECTURE_OFFSET),
        _instruction(_EQUAL, processor.audit_architecture, 1, 0),
        _instruction(_RETURN, _REFUSE),
        _instruction(_LOAD, _NUMBER_OFFSET),
        _instruction(_AT_LEAST, _X32_BIT, 0, 1),
        _instruction(_RETURN, _REFUSE),
    ]
    by_arguments = _by_arguments(processor.open_direct, loopback=loopback, set_uid=set_uid)
    # The kernel remembers which calls are allowed regardless of their arguments, and runs the
    # program only for the other calls, so unconditional calls come first.
    decisions: tuple[tuple[Numbers, Decision], ...] = (
        *((ALLOWED[name], switch) for name, switch in by_arguments.items()),
        *((numbers, _ALLOW) for name, numbers in ALLOWED.items() if name not in by_arguments),
        *((numbers, _NO_EFFECT) for numbers in WITHOUT_EFFECT.values()),
        *((numbers, _REFUSE) for numbers in REFUSED.values()),
    )
    for numbers, decision in decisions:
        if (number := numbers[processor.column]) is not None:
            program += _if_equal(number, decision)
    program.append(_instruction(_RETURN, _UNKNOWN))
    return b"".join(program)


def _if_equal(value: int, decision: Decision) -> list[bytes]:
    """Return instructions that decide if the loaded word equals `value`, and otherwise skip."""
    body = _decide(decision)
    return [_instruction(_EQUAL, value, 0, len(body)), *body]


def _decide(decision: Decision) -> list[bytes]:
    """Return instructions that always end with an action."""
    if isinstance(decision, int):
        return [_instruction(_RETURN, decision)]
    program = [
        _instruction(_LOAD, _ARGUMENTS_OFFSET + 8 * decision.argument),  # its low word
        _instruction(_AND, decision.mask),
    ]
    for value, inner in decision.cases.items():
        program += _if_equal(value, inner)
    return [*program, *_decide(decision.default)]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
