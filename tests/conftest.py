"""Settings of all tests, which neither read nor write the user's own configuration.

Bots run unconfined, so that the tests run everywhere; tests of the sandbox request it.
"""

import asyncio
import functools
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, ParamSpec

# The referee's package sets this before it imports gRPC, whose fork handlers would otherwise
# interfere with the start of bots.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
# Each pytest process has a core at most. The libraries of NumPy and PyTorch read these when loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings
from pytest_asyncio import is_async_test

from asara_server.event_loop import new_event_loop
from asara_server.replay.signing import load_or_make_key
from tests.log_settings import logs_as_before

P = ParamSpec("P")

ASYNC_TEST_S = 30
"""Seconds after which a coroutine test fails."""

# The duration of an example depends on the load of the machine.
settings.register_profile("asara", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("asara")


@pytest.fixture(autouse=True, scope="session")
def _own_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("ASARA_SANDBOX", "none")
        load_or_make_key()  # the first command would announce it
        yield


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    with logs_as_before():
        yield


@pytest.fixture(autouse=True, scope="session")
def _signals_as_on_a_terminal() -> None:
    """Handle Ctrl-C even if a shell started the tests in the background, with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run coroutine tests on the event loop of the program."""
    return {"program": new_event_loop}


def pytest_xdist_auto_num_workers() -> int:
    """Use one worker more than cores, because many tests wait for processes and clocks.

    Each worker collects all tests, which takes more time than a second one more would save.
    """
    return (os.cpu_count() or 1) + 1


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, obj: object
) -> list[pytest.Item] | None:
    """Do not collect long forms that would be deselected: they are thousands of items.

    If a test is named on the command line, all are collected.
    """
    config = collector.config
    if "not long" not in config.option.markexpr or any("::" in word for word in config.args):
        return None
    marks = getattr(obj, "pytestmark", ())
    return [] if any(getattr(mark, "name", "") == "long" for mark in marks) else None


_SLOW_FOLDERS = ("tests/tournament/", "tests/cli/", "tests/conformance/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slow files first, so that none is left alone at the end; limit coroutine tests."""
    items.sort(key=lambda item: not item.nodeid.startswith(_SLOW_FOLDERS))
    for item in items:
        if isinstance(item, pytest.Function) and is_async_test(item):
            item.obj = _limited(item.obj)


def _limited(
    test: Callable[P, Coroutine[Any, Any, None]],
) -> Callable[P, Coroutine[Any, Any, None]]:
    @functools.wraps(test)
    async def limited(*args: P.args, **kwargs: P.kwargs) -> None:
        async with asyncio.timeout(ASYNC_TEST_S):
            await test(*args, **kwargs)

    return limited
