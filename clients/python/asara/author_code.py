"""Points messages to the author's code: files, lines, and tracebacks without our own frames."""

from __future__ import annotations

import functools
import inspect
import sys
import traceback
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType

_PACKAGE = __file__.removesuffix("author_code.py")


def code_of(function: object) -> CodeType | None:
    """Return the author's code of a function, method, partial or callable object, if it has any."""
    while isinstance(function, functools.partial):
        function = function.func
    if callable(function):
        function = inspect.unwrap(function)
    for found in (function, vars(type(function)).get("__call__")):
        code = getattr(found, "__code__", None)
        if isinstance(code, CodeType):
            return None if _is_ours(code) else code
    return None


def place(code: CodeType | None, line: int | None = None) -> str:
    """Return `FILE, line N` for a line, by default the first line of the code; "" without code."""
    return "" if code is None else f"{code.co_filename}, line {line or code.co_firstlineno}"


def caller_place() -> str:
    """Return the line of the author's program that called this package."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and _is_ours(frame.f_code):
        frame = frame.f_back
    return "" if frame is None else place(frame.f_code, frame.f_lineno)


def runs_again() -> bool:
    """Return True while multiprocessing runs the author's file in a child process."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals["__name__"] == "__mp_main__":
            return True
        frame = frame.f_back
    return False


def raising_place(trace: TracebackType | None) -> str:
    """Return the last line of the author's program in a traceback."""
    import sysconfig

    library = sysconfig.get_path("stdlib")
    found = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if not _is_ours(code) and not code.co_filename.startswith((library, "<")):
            found = place(code, trace.tb_lineno)
        trace = trace.tb_next
    return found


def running_lines(thread: int) -> str:
    """Return the author's lines that a thread is executing, formatted like a traceback.

    Return "" while a bot of this package is waiting for something.
    """
    frame = sys._current_frames().get(thread)
    if frame is None:
        return ""
    stack = list(traceback.walk_stack(frame))[::-1]
    ours = [number for number, (each, _) in enumerate(stack) if _is_ours(each.f_code)]
    first = next((n + 1 for n in ours if n + 1 not in ours), 0)
    return "".join(traceback.StackSummary.extract(iter(stack[first:])).format())


def hide_own_frames(error: BaseException) -> None:
    """Remove from a traceback the frames between the author's `run` and the author's methods."""
    trace = error.__traceback__
    while trace is not None and not _is_ours(trace.tb_frame.f_code):
        trace = trace.tb_next
    while trace is not None and _is_ours(trace.tb_frame.f_code):
        trace = trace.tb_next
    if trace is not None:  # otherwise the error is in this package
        error.__traceback__ = trace


def hide_own_frames_when_printed() -> None:
    """Make the interpreter leave out our frames when an exception ends the program.

    The exception itself keeps the frames, for debuggers.
    """
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _print_exception


def _print_exception(
    kind: type[BaseException], error: BaseException, _trace: TracebackType | None
) -> None:
    hide_own_frames(error)
    sys.__excepthook__(kind, error, error.__traceback__)


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(_PACKAGE)


def signature_fault(function: Callable[..., object], example: str) -> str:
    """Return why a function cannot be called as in `example`, such as `decide(decision, match)`."""
    name, _, arguments = example.rstrip(")").partition("(")
    words = [word for word in arguments.split(", ") if word]
    code = code_of(function)
    where = f"{place(code)}: " if code else ""
    if inspect.iscoroutinefunction(function):
        return f"{where}{name} is asynchronous; write `def {example}:` without `async`"
    try:
        inspect.signature(function).bind(*words)
    except TypeError:
        return f"{where}{name} must take the arguments ({', '.join(words)}); write `def {example}:`"
    except ValueError:  # some built-in functions have no signature
        pass
    return ""
