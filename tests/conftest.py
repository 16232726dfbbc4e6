"""What all tests share: they neither read nor write the user's own configuration.

Bots run unconfined, so that the tests run everywhere; tests of the sandbox ask for it.
"""

import asyncio
import functools
import logging
import signal
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, ParamSpec

import pytest
import structlog
from hypothesis import HealthCheck, settings
from pytest_asyncio import is_async_test

from asara_server.event_loop import new_event_loop

P = ParamSpec("P")

ASYNC_TEST_S = 30
"""Seconds after which a coroutine test fails."""

# How long an example takes says how busy the machine is.
settings.register_profile("asara", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("asara")


@pytest.fixture(autouse=True, scope="session")
def _own_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("ASARA_SANDBOX", "none")
        yield


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """A test that sets what is logged does so for itself."""
    config = structlog.get_config()
    handlers = logging.root.handlers[:]
    level = logging.root.level
    yield
    structlog.configure(**config)
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.fixture(autouse=True, scope="session")
def _signals_as_on_a_terminal() -> None:
    """What a shell starts in the background ignores Ctrl-C, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run coroutine tests on the event loop of the program."""
    return {"program": new_event_loop}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Limit the time of coroutine tests."""
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
