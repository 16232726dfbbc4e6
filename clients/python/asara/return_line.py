"""Finds the line at which the author's `decide` returned, for messages about its answer."""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TypeVar

from asara.author_code import code_of, place

R = TypeVar("R")

_TOOL = 4  # tool id for sys.monitoring; no well-known tool uses this id
_MOST_EVENTS = 8  # until the function is given up; a decorated one is not the first that is called

_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_offsets: dict[CodeType, int] = {}
"""Offset in each monitored function's code at which the function last returned."""


class ReturnLine:
    """Calls one function, and remembers where the function last returned.

    This costs 0.2 µs per call with sys.monitoring. Python 3.11 lacks sys.monitoring. The cost is
    then 2 µs if the function can return at several lines, and nothing is remembered while a
    profiler runs.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._code = code_of(function)
        self._monitored = self._code is not None and _monitor(self._code)
        self._only_offset = -1 if self._monitored else _only_return(function, self._code)
        self._hook = self._find_frame
        self._events_left = 0
        self._frame: FrameType | None = None
        self.offset = -1
        """Offset in the function's code; -1 if unknown."""

    def call(self, function: Callable[..., R], *arguments: object) -> R:
        """Call `function`, which is the monitored function or a method that calls it."""
        code = self._code
        if code is None:
            return function(*arguments)
        if self._monitored:
            result = function(*arguments)
            self.offset = _offsets.get(code, -1)
            return result
        if self._only_offset >= 0:
            result = function(*arguments)
            self.offset = self._only_offset
            return result
        if sys.getprofile() is not None:
            self.offset = -1
            return function(*arguments)
        self._events_left = _MOST_EVENTS
        sys.setprofile(self._hook)
        try:
            result = function(*arguments)
        finally:
            if sys.getprofile() is self._hook:
                sys.setprofile(None)
            frame, self._frame = self._frame, None
        self.offset = -1 if frame is None else frame.f_lasti
        return result

    def place(self, offset: int) -> str:
        """Return file and line of an offset, or of the function's first line; "" if unknown."""
        if self._code is None:
            return ""
        for start, end, line in self._code.co_lines():
            if start <= offset < end:
                return place(self._code, line)
        return place(self._code)

    def _find_frame(self, frame: FrameType, event: str, _argument: object) -> None:
        """Keep the function's frame, which knows its last line even after the function returns."""
        self._events_left -= 1
        if frame.f_code is self._code and event == "call":
            self._frame = frame
            sys.setprofile(None)
        elif not self._events_left:
            sys.setprofile(None)


def _only_return(function: object, code: CodeType | None) -> int:
    """Return the offset of the only return instruction; -1 if there are several.

    The result is also -1 for a decorated function, which might not be called at all.
    """
    own = getattr(function, "__func__", function)  # of a method
    undecorated = code is getattr(own, "__code__", None)
    if code is None or not undecorated or code.co_flags & _SUSPENDS:
        return -1
    returns = [each.offset for each in dis.get_instructions(code) if each.opname == "RETURN_VALUE"]
    return returns[0] if len(returns) == 1 else -1


def _monitor(code: CodeType) -> bool:
    """Record where a function returns; False if the interpreter or another tool prevents this."""
    if sys.version_info < (3, 12):
        return False
    monitoring = sys.monitoring
    name = monitoring.get_tool(_TOOL)
    if name is None:
        monitoring.use_tool_id(_TOOL, "asara")
        monitoring.register_callback(_TOOL, monitoring.events.PY_RETURN, _record_return)
    elif name != "asara":
        return False
    monitoring.set_local_events(_TOOL, code, monitoring.events.PY_RETURN)
    return True


def _record_return(code: CodeType, offset: int, _result: object) -> None:
    _offsets[code] = offset
