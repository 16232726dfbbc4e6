"""An executor of one process, which notices whenever that process dies."""

from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.context import BaseContext
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


class SingleProcess(ProcessPoolExecutor):
    """Runs calls one after another in one process, which is started with the first.

    A process that is killed while it sends a result breaks this executor, as it should. One of
    several processes can leave theirs waiting for ever: the rest of the result could still come,
    since the others, and the executor itself, can write to the same pipe.
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
        writer.close()  # the process has its own by now
        return future
