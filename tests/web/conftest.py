"""Fixtures of the tests of the page: Chromium, and a page in it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.web.chromium import ARGUMENTS, CHROMIUM, opened_page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need Chromium, and put them behind the others of their file.

    Playwright has an event loop in its thread as long as `browser` lives, which is until the end of
    a file. No test can start another loop there.
    """
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium, as the system has it; the test is skipped without one."""
    if not CHROMIUM:
        pytest.skip("there is no chromium on PATH")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a fresh profile; the test fails if a script throws or logs an error."""
    with opened_page(browser) as page:
        yield page
