"""The form of the parts that make up the application."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import NamedTuple

from starlette.routing import BaseRoute


class Part(NamedTuple):
    """Routes that share state, and what runs beside them."""

    routes: Sequence[BaseRoute]
    running: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    """Context that is open from the start of the server to its end; tasks live in it."""
