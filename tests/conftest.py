"""Settings of all tests, which neither read nor write the user's own configuration.

Bots run unconfined, so that the tests run everywhere; tests of the sandbox request it.
"""

import asyncio
import functools
import os
import signal
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
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

from asara_server.cli.display import progress
from asara_server.cli.sessions import ask, bot_build, bot_check
from asara_server.event_loop import new_event_loop
from asara_server.replay.signing import load_or_make_key
from tests.events import EVENT_S
from tests.found_cases import pytest_pyfunc_call
from tests.log_settings import logs_as_before
from tests.progress import Progress, expected_s

P = ParamSpec("P")

__all__ = ["pytest_pyfunc_call"]  # a hook

# The duration of an example depends on the load of the machine.
settings.register_profile(
    "asara", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("asara")


@pytest.fixture(autouse=True, scope="session")
def _own_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        temporary = str(tmp_path_factory.mktemp("t"))  # short, because sockets are made in it
        patch.setenv("TMPDIR", temporary)  # for programs that a test kills
        patch.setattr(tempfile, "tempdir", temporary)
        patch.setenv("ASARA_SANDBOX", "none")
        load_or_make_key()  # the first command would announce it
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_lines_that_only_a_busy_machine_prints() -> Iterator[None]:
    """Let commands in this process report no progress in between."""
    intervals = [
        (progress, "LINE_INTERVAL_S"),
        (ask, "_NOTICE_S"),
        (bot_build, "_SHOWN_S"),
        (bot_build, "SLOW_INTERVAL_S"),
        (bot_check, "SLOW_INTERVAL_S"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        for module, name in intervals:
            patch.setattr(module, name, 3600.0)
        yield


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    with logs_as_before():
        yield


@pytest.fixture(autouse=True, scope="session")
def _signals_as_on_a_terminal() -> None:
    """Have programs heed Ctrl-C and a closed terminal.

    A shell that starts tests in the background has SIGINT ignored, and nohup has SIGHUP ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run coroutine tests on the event loop of the program."""
    return {"program": new_event_loop}


def pytest_xdist_auto_num_workers() -> int:
    """Use one worker more than cores, because many tests wait for processes and clocks.

    Each worker collects all tests, which takes more time than a second one more would save.
    """
    return (os.cpu_count() or 1) + 1


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--left-out",
        type=Path,
        help="show progress instead of dots, and add lines on skipped tests to this file",
    )


def pytest_configure(config: pytest.Config) -> None:
    if _names_a_test(config):
        config.option.markexpr = ""  # whoever names a test wants it to run, in whichever size it is
    if config.option.left_out and not hasattr(config, "workerinput"):
        config.option.reportchars = ""
        config.pluginmanager.register(Progress(config, config.option.left_out))


def _names_a_test(config: pytest.Config) -> bool:
    return any("::" in word for word in config.args)


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, obj: object
) -> list[pytest.Item] | None:
    """Do not collect long forms that would be deselected: they are thousands of items."""
    if "not long" not in collector.config.option.markexpr:
        return None
    marks = getattr(obj, "pytestmark", ())
    return [] if any(getattr(mark, "name", "") == "long" for mark in marks) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slow files first, so that none is left alone at the end; limit coroutine tests."""
    items.sort(key=lambda item: (-expected_s(item.nodeid), item.path))
    for item in items:
        if isinstance(item, pytest.Function) and is_async_test(item):
            item.obj = _limited(item.obj)


def _limited(
    test: Callable[P, Coroutine[Any, Any, None]],
) -> Callable[P, Coroutine[Any, Any, None]]:
    @functools.wraps(test)
    async def limited(*args: P.args, **kwargs: P.kwargs) -> None:
        async with asyncio.timeout(EVENT_S):
            await test(*args, **kwargs)

    return limited
