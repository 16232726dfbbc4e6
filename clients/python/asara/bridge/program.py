"""The author's program: a process that reads lines and prints lines."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from asara.bridge.flushing import flush_advice
from asara.errors import BotError, ConfigurationError

LONGEST_ANSWER = 65_536
"""Maximum length in bytes of a line that the program prints."""

_FLUSH_HINT_S = 2.0
"""Seconds after which a program that has never answered is suspected of not flushing."""
_LATE_S = 0.5
"""Seconds before the clock runs out at which the bridge reports why there is no answer."""
_LONGEST_OVERTIME_S = 30.0
"""Maximum seconds to wait after the clock has run out: the referee's clocks may have paused."""
_LINE_S = 10.0
"""Seconds that the program may take to read a line that needs no answer."""
_EXIT_S = 0.4
"""Seconds to end after its input is closed; the referee kills a bot one second after Goodbye."""
_TERMINATE_S = 0.2
"""Seconds to end after SIGTERM."""
_TICK_S = 0.005

_LONGEST_TEXT = 80  # characters, in messages
_LONGEST_FIRST_LINE = 256  # bytes

_GUARD = 'read -r line || kill -s KILL -- "-$1"'
"""Shell code that kills a process group if its input ends without a line."""


class Program:
    """Runs the program until `close`. Every fault raises a BotError with one line of text.

    The program runs in its own session, so that its children can be ended with it. A second
    process, the guard, ends program and children if this process is killed.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.name = shorten(shlex.join(command))
        self._command = command
        self._process = _start(command)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._guard = _start_guard(self._process.pid)
        self._received = b""
        self._answered = False

    def notify(self, line: str, subject: str) -> None:
        """Send a line that needs no answer; messages refer to the line as `subject`."""
        self._send(line, subject, time.monotonic() + _LINE_S)

    def ask(self, line: str, question: str, limit_s: float) -> bytes:
        """Send a line and return the line that answers it, without its line ending.

        Messages refer to the line as `question`, for example `decision 3 of r1-basic-0001`. If
        `limit_s` is 0, there is no time limit.
        """
        self._check_nothing_printed(question)
        asked = time.monotonic()
        clock_ends = asked + limit_s if limit_s > 0 else float("inf")
        deadline = clock_ends + min(limit_s, _LONGEST_OVERTIME_S)
        self._send(line, question, deadline)
        late_at = clock_ends - min(_LATE_S, limit_s / 10)
        hint_at = float("inf") if self._answered else min(asked + _FLUSH_HINT_S, late_at)
        while b"\n" not in self._received:
            if len(self._received) > LONGEST_ANSWER:
                raise BotError(
                    f"{self.name}: {question}: more than {LONGEST_ANSWER:,} bytes without the end "
                    f"of a line, which begin with {quoted(self._received)}; print one short line "
                    "per decision"
                )
            now = time.monotonic()
            if now >= deadline:
                raise BotError(
                    f"{self.name}: {question}: no answer long after the end of its clock"
                )
            if now >= hint_at:
                hint_at = float("inf")
                sys.stderr.write(f"asara: {self._unflushed(question, now - asked)}\n")
            if now >= late_at:
                late_at = float("inf")
                sys.stderr.write(f"asara: {self._late(question, limit_s)}\n")
            self._read(question, min(hint_at, late_at, deadline) - now)
        answer, _, self._received = self._received.partition(b"\n")
        self._answered = True
        if self._received:
            raise BotError(self._unasked(self._received, f"after its answer to {question}"))
        return answer

    def close(self) -> str:
        """End the program and all its children. If it ended because of a fault, return how."""
        process = self._process
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        asked_to_end = False
        for number, limit_s in ((None, _EXIT_S), (signal.SIGTERM, _TERMINATE_S)):
            if number is not None:
                asked_to_end = True
                self._signal(number)
            if _has_ended(process, limit_s):
                break
        self._signal(signal.SIGKILL)  # children too, while the process id is ours
        status = process.wait()
        if self._guard.stdin is not None:
            with contextlib.suppress(OSError):
                self._guard.stdin.write(b"\n")
                self._guard.stdin.close()
        self._guard.wait()
        ended_by_us = asked_to_end or status in {-signal.SIGKILL, -signal.SIGPIPE}
        return "" if status == 0 or ended_by_us else f"{self.name} {_ending(status)}"

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _send(self, line: str, question: str, deadline: float) -> None:
        """Write a line. Output that the program prints in the meantime is kept, up to a limit."""
        data = memoryview(f"{line}\n".encode())
        poll = select.poll()
        poll.register(self._input, select.POLLOUT)
        poll.register(self._output, select.POLLIN)
        while data:
            try:
                data = data[os.write(self._input, data) :]
            except BlockingIOError:
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise BotError(
                        f"{self.name}: {question}: it does not read its standard input; read a "
                        "line, answer it if it is a decision, and read the next one"
                    ) from None
                for descriptor, _ in poll.poll(_milliseconds(left_s)):
                    if descriptor == self._output:
                        self._read(question, 0)
                        if len(self._received) > LONGEST_ANSWER:
                            raise BotError(self._unasked(self._received, "unasked")) from None
            except BrokenPipeError:
                raise BotError(self._ended(question, "input")) from None

    def _read(self, question: str, limit_s: float) -> None:
        """Read output, waiting up to a time limit, and add it to the data received."""
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        if not poll.poll(_milliseconds(limit_s)):
            return
        data = os.read(self._output, LONGEST_ANSWER)
        if not data:
            raise BotError(self._ended(question, "output"))
        self._received += data

    def _check_nothing_printed(self, question: str) -> None:
        self._read(question, 0)
        if self._received:
            raise BotError(self._unasked(self._received, f"before {question}"))

    def _unasked(self, data: bytes, when: str) -> str:
        return (
            f"{self.name}: it printed {quoted(data)} {when}, which nothing asked for; print one "
            "line per decision, and everything else to standard error"
        )

    def _late(self, question: str, limit_s: float) -> str:
        text = f"{self.name}: {question}: no answer yet, and its clock of {limit_s:.3g} s runs out"
        if self._received:
            return f"{text}, but {quoted(self._received)} without the end of a line"
        return text if self._answered else f"{text}; does it flush? {flush_advice(self._command)}"

    def _unflushed(self, question: str, seconds: float) -> str:
        if self._received:
            return (
                f"{self.name}: {question}: it has printed {quoted(self._received)}, and no end of "
                "the line; still waiting"
            )
        return (
            f"{self.name}: {question}: no answer for {seconds:.0f} s, still waiting; if it has "
            f"printed one, it must flush its output: {flush_advice(self._command)}"
        )

    def _ended(self, question: str, closed: str) -> str:
        text = f"{self.name}: {question}: "
        if not _has_ended(self._process, _EXIT_S):
            text += f"it has closed its standard {closed}, and is still running"
        else:
            # Not reaped until `close`, so that no other process gets this process id.
            status = _status(self._process)
            text += f"it {_ending(status)}"
            if status == 0:
                text += "; it must read and answer until its standard input ends"
        if self._received:
            text += f"; its last output was {quoted(self._received)}, without the end of a line"
        return text


def shorten(text: str) -> str:
    """Return a text as one line, truncated for use in messages."""
    line = "".join(char if char.isprintable() else "�" for char in text)
    return line if len(line) <= _LONGEST_TEXT else f"{line[:_LONGEST_TEXT]}…"


def quoted(data: bytes) -> str:
    """Return the first line of the program's output, quoted for use in messages."""
    line = data.partition(b"\n")[0][: 4 * _LONGEST_TEXT]
    return repr(shorten(line.decode(errors="backslashreplace")))


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    environment = {"PYTHONUNBUFFERED": "1", **os.environ}
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=environment,
            start_new_session=True,
        )
    except FileNotFoundError:
        advice = "check its name, and PATH"
        if os.environ.get("ASARA_CONTAINED"):
            advice += "; in the sandbox a bot sees its folder and the programs in /usr"
        if len(command) == 1 and " " in command[0]:
            advice = f"write its words without quotes: asara bridge -- {command[0]}"
        elif "/" in command[0] and os.path.exists(command[0]):  # noqa: PTH110 - of any text
            advice = _about_first_line(command[0])
        problem = f"there is no program {command[0]!r}; {advice}"
    except PermissionError:
        problem = (
            f"{command[0]!r} is not executable; run chmod +x, or put its interpreter before it"
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        problem = f"{shorten(command[0])!r} cannot be started: {reason}"
        if isinstance(error, OSError) and error.errno == errno.ENOEXEC:
            problem += f"; {_about_first_line(command[0])}"
    raise ConfigurationError(problem)


def _about_first_line(program: str) -> str:
    """Explain why the system cannot execute a file that begins with these bytes."""
    try:
        with open(program, "rb") as file:  # noqa: PTH123 - of any text
            line = file.readline(_LONGEST_FIRST_LINE)
    except OSError:
        return "the interpreter in its first line does not exist"
    if line.startswith(b"\xef\xbb\xbf"):
        return "it begins with a byte order mark: save it as UTF-8 without one"
    if not line.startswith(b"#!"):
        return "put its interpreter before it, or name it in a first line that begins with #!"
    if line.endswith(b"\r\n"):
        return "its lines end as on Windows, in CR LF: save it with LF alone"
    interpreter = line[2:].split()[:1] or [b""]
    return f"the interpreter in its first line does not exist: {quoted(interpreter[0])}"


def _start_guard(group: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "sh", str(group)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd="/",
        start_new_session=True,
    )


def _status(process: subprocess.Popen[bytes]) -> int:
    """Return the exit status of a process that has ended but that `_has_ended` did not reap."""
    if process.returncode is not None:
        return process.returncode
    ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def _has_ended(process: subprocess.Popen[bytes], limit_s: float) -> bool:
    """Return True if the process ends within a time limit; reaps it only on macOS."""
    deadline = time.monotonic() + limit_s
    while not _is_over(process):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_TICK_S)
    return True


def _is_over(process: subprocess.Popen[bytes]) -> bool:
    if not hasattr(os, "waitid"):  # macOS
        return process.poll() is not None
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return process.returncode is not None or bool(os.waitid(os.P_PID, process.pid, options))


def _ending(status: int) -> str:
    """Describe how a process ended, given its status as in `subprocess`."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def _milliseconds(seconds: float) -> int | None:
    """Convert seconds to an argument of `poll`, rounded up; None for unlimited time."""
    return None if seconds == float("inf") else max(int(seconds * 1000) + 1, 0) if seconds else 0
