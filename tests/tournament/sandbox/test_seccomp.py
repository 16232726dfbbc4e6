"""The filter of system calls: its tables fit the kernel, and the kernel applies them."""

import errno
import platform
import re
from pathlib import Path

import pytest

from asara_server.tournament.sandbox.seccomp import (
    ALLOWED,
    INSIDE,
    OUTSIDE,
    REFUSED,
    WITHOUT_EFFECT,
    Numbers,
)
from tests.tournament.sandbox.contained import python, run
from tests.tournament.sandbox_config import sandbox_or_skip

TABLES = (*INSIDE.values(), *OUTSIDE.values(), REFUSED, WITHOUT_EFFECT)
LISTED = {name: numbers for table in TABLES for name, numbers in table.items()}

UNKNOWN = """
    ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd pidfd_send_signal get_robust_list
    clone3 unshare setns openat2 mount umount2 pivot_root chroot open_tree move_mount fsopen
    fsconfig fsmount fspick mount_setattr modify_ldt io_setup io_destroy io_submit io_cancel
    io_getevents io_pgetevents init_module finit_module delete_module kexec_load kexec_file_load
    reboot swapon swapoff settimeofday clock_settime adjtimex clock_adjtime iopl ioperm uselib
    sethostname setdomainname vhangup landlock_create_ruleset memfd_secret
"""
"""Some of the calls that are answered as by a kernel without them."""

_HEADERS = {"x86_64": "asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}


PROBES = {335, 336} if platform.machine() == "x86_64" else set()
"""Calls that Linux hides from filters, and that end everybody but the code of its own probes."""


def kernel_calls(processor: str) -> dict[str, int]:
    """Return the numbers of all system calls from the headers of the kernel."""
    include = Path("/usr/include")
    name = _HEADERS[processor]
    path = next(
        (one for one in (include / name, *include.glob(f"*-linux-gnu/{name}")) if one.exists()),
        None,
    )
    if path is None:
        pytest.skip(f"there is no {name}; install linux-libc-dev")
    lines = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", path.read_text(), re.MULTILINE)
    # On processors with 64 bits, fstatat has another name.
    return {"newfstatat" if name == "fstatat" else name: int(number) for name, number in lines}


def test_a_call_is_listed_once() -> None:
    assert len(LISTED) == sum(map(len, TABLES))
    for column in range(2):
        numbers = [one[column] for one in LISTED.values() if one[column] is not None]
        assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize(("processor", "column"), [("x86_64", 0), ("aarch64", 1)])
def test_numbers_are_those_of_the_kernel(processor: str, column: int) -> None:
    kernel = kernel_calls(processor)
    assert len(kernel) > 300
    assert {name: numbers[column] for name, numbers in LISTED.items()} == {
        name: kernel.get(name) for name in LISTED
    }


def test_every_call_that_is_not_allowed_has_its_answer(tmp_path: Path) -> None:
    """All numbers are tried, with zeros as arguments, except the calls that are allowed."""
    code = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in map(int, sys.argv[1:]):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
    print("CALL", number, ctypes.get_errno() if result == -1 else result)
"""
    column = Numbers._fields.index(platform.machine())
    kernel = kernel_calls(platform.machine())
    allowed = {numbers[column] for numbers in ALLOWED.values()}
    expected = {number: errno.ENOSYS for number in range(1024) if number not in allowed | PROBES}
    assert {kernel[name] for name in UNKNOWN.split() if name in kernel} <= expected.keys()
    for table, answer in ((REFUSED, errno.EPERM), (WITHOUT_EFFECT, 0)):
        listed = [numbers[column] for numbers in table.values()]
        expected |= {number: answer for number in listed if number is not None}
    how, printed = run(sandbox_or_skip(), tmp_path / "bot", [*python(code), *map(str, expected)])
    answers = [line.split()[1:] for line in printed.splitlines() if line.startswith("CALL ")]
    assert {int(number): int(answer) for number, answer in answers} == expected, how
