"""An executor with a single process, which always notices when that process dies."""

from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.context import BaseContext
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


class SingleProcess(ProcessPoolExecutor):
    """Runs calls one after another in one process, which starts with the first call.

    If the process is killed while it sends a result, this executor breaks, as it should. An
    executor with several processes could wait forever instead. The other processes and the executor
    can still write to the same pipe, so the rest of the result might still come.
    """

    def __init__(
        self,
        context: BaseContext,
        initializer: Callable[..., object],
        arguments: tuple[object, ...] = (),
    ) -> None:
        super().__init__(1, context, initializer, arguments)

    def submit(
        self, function: Callable[_P, _R], /, *arguments: _P.args, **named: _P.kwargs
    ) -> "Future[_R]":
        """Submit a call. Raises BrokenProcessPool if the process has died."""
        future = super().submit(function, *arguments, **named)
        writer: Any = self._result_queue._writer  # type: ignore[attr-defined]
        writer.close()  # the process has its own copy by now
        return future
