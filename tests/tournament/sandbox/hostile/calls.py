"""Makes every call that would let two bots exchange data through the kernel."""

import ctypes
import errno
import os
import socket
import struct

X86 = os.uname().machine == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
file = os.open("/usr/bin/env", os.O_RDONLY)
page = ctypes.c_void_p(libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file, ctypes.c_long(0)))
space = ctypes.create_string_buffer(8192)


def report(what: str, result: int) -> None:
    name = errno.errorcode.get(ctypes.get_errno(), "?")
    print(f"refused {what}: {name}" if result < 0 else f"REACHED {what}", flush=True)


def call(what: str, numbers: tuple[int, int], *arguments: object) -> None:
    ctypes.set_errno(0)
    number = numbers[0 if X86 else 1]
    values = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    report(what, libc.syscall(ctypes.c_long(number), *values))


vector = struct.pack("PP", ctypes.addressof(space), 1)
call("fadvise64", (221, 223), file, 0, 4096, 4)
call("mincore", (27, 232), page, 4096, space)
call("cachestat", (451, 451), file, struct.pack("QQ", 0, 4096), space, 0)
call("readahead", (187, 213), file, 0, 4096)
call("pageout", (28, 233), page, 4096, 21)
call("cold", (28, 233), page, 4096, 20)
call("collapse", (28, 233), page, 4096, 25)
call("process_madvise", (440, 440), 0, vector, 1, 20, 0)
call("preadv2 without waiting", (327, 286), file, vector, 1, 0, 0, 8)
call("move_pages", (279, 239), 0, 0, 0, 0, 0)
call("io_uring_setup", (425, 425), 4, space)
call("inotify_init1", (294, 26), 0)
call("fanotify_init", (300, 262), 0, 0)
call("userfaultfd", (323, 282), 1)
call("perf_event_open", (298, 241), space, 0, -1, -1, 0)
call("syslog", (103, 116), 3, space, 100)
call("statfs", (137, 43), b"/usr", space)
call("fstatfs", (138, 44), file, space)
call("name_to_handle_at", (303, 264), -100, b"/usr", space, space, 0)
call("mq_open", (240, 180), b"name", os.O_CREAT | os.O_RDWR, 0o600, 0)
call("openat2", (437, 437), -100, b"/usr/bin/env", struct.pack("QQQ", 0, 0, 0), 24)
call("pidfd_open", (434, 434), os.getpid(), 0)
call("clone with CLONE_PIDFD", (56, 220), 0x1000 | 17, 0, space, 0, 0)
for flag in (0x20000, *(1 << bit for bit in range(25, 31))):  # CLONE_NEWNS and its like
    call(f"clone with namespace {flag:x}", (56, 220), flag | 17, 0, 0, 0, 0)
call("limits of PID 1", (302, 261), 1, 7, 0, space)
call("PR_SET_PTRACER", (157, 167), 0x59616D61, 1, 0, 0, 0)
here, there = socket.socketpair()
for option in (57, 71, 77):  # SO_COOKIE, SO_NETNS_COOKIE, SO_PEERPIDFD
    length = ctypes.byref(ctypes.c_int(8))
    call(f"getsockopt {option}", (55, 209), here.fileno(), 1, option, space, length)
call("SO_PASSPIDFD", (54, 208), here.fileno(), 1, 76, struct.pack("i", 1), 4)
call("ioprio_get", (252, 31), 3, 1000)
for name, command in (
    ("F_SETLEASE", 1024),
    ("F_GETLEASE", 1025),
    ("F_NOTIFY", 1026),
    ("F_SET_RW_HINT", 1036),
):
    call(name, (72, 25), file, command, 1)
for request in (0xC020660B, 0x4008662D, 0xC0046629, 0x80086601):  # of file systems
    call(f"ioctl {request:x}", (16, 29), file, request, space)
for request in (0x8940, 0x8941, 0x8980, 0x8982, 0x8983, 0x89A0, 0x89A1):  # load modules
    call(f"ioctl {request:x} of a socket", (16, 29), here.fileno(), request, space)
direct = 0o40000 if X86 else 0o200000
call("O_DIRECT", (257, 56), -100, b"/usr/bin/env", direct, 0)

for family in range(46):
    if family != socket.AF_UNIX:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            call(f"family {family}", (41, 198), family, kind, 0)
if X86:
    call("x32 interface", (0x40000000 | 39, 0))
    code = bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3])  # mov eax, 20; int 0x80; ret
    start = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))
    ctypes.memmove(start, code, len(code))
    result = ctypes.CFUNCTYPE(ctypes.c_int)(start)()
    ctypes.set_errno(-result if result < 0 else 0)
    report("i386 interface", result)
