"""A running match on the page: it grows, and survives a broken connection."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from tests.web.chromium import BROKEN, opened_page, slider
from tests.web.live_table import LiveTable, live_table


@pytest.fixture
def table(tmp_path: Path) -> Iterator[LiveTable]:
    with live_table(tmp_path) as table:
        yield table


@pytest.fixture
def viewer(browser: Browser, table: LiveTable) -> Iterator[Page]:  # noqa: ARG001 - ends before it
    """A page whose connection may break."""
    with opened_page(browser, errors=BROKEN) as page:
        yield page


class Line:
    """The WebSockets of a page. `cut` breaks them; while `down` is true, new ones break as well."""

    def __init__(self, page: Page) -> None:
        self.down = False
        self._open: list[WebSocketRoute] = []
        page.route_web_socket(re.compile("/ws/watch"), self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        if self.down:
            socket.close(code=1011)
        else:
            self._open += [socket, socket.connect_to_server()]

    def cut(self, *, stay_down: bool) -> None:
        self.down = stay_down
        for socket in self._open:
            socket.close(code=1011)
        self._open.clear()


def last_moment(page: Page) -> int:
    """Largest position on the scrub bar."""
    return int(slider(page).get_attribute("max") or 0)


def expect_all(page: Page, browser: Browser, table: LiveTable) -> int:
    """Wait until the match has all its moments so far, each once; return the number of the last.

    A page that is opened later receives all of them at once.
    """
    with opened_page(browser, errors=BROKEN) as fresh:  # it asks for a replay first
        fresh.goto(table.url)
        last = last_moment(fresh)
    expect(slider(page)).to_have_attribute("max", str(last))
    return last


def test_a_page_that_lost_its_connection_goes_on_where_it_was(
    table: LiveTable, viewer: Page, browser: Browser
) -> None:
    line = Line(viewer)
    viewer.goto(table.url)
    table.play(40)
    expect(viewer.get_by_text("The match is running.")).to_be_visible()
    before = expect_all(viewer, browser, table)
    slider(viewer).fill("7")
    line.cut(stay_down=True)
    lost = viewer.get_by_text("The connection is lost; the page connects again.")
    expect(lost).to_be_visible()
    table.play(40)
    assert last_moment(viewer) == before
    line.down = False
    expect(viewer.get_by_text("The match is running.")).to_be_visible()
    after = expect_all(viewer, browser, table)
    assert after > before
    expect(slider(viewer)).to_have_value("7")
    line.cut(stay_down=False)
    table.play(10_000)
    expect(viewer.get_by_text("The match is running.")).to_be_hidden()
    expect(lost).to_be_hidden()
    assert last_moment(viewer) > after
    expect(slider(viewer)).to_have_value("7")
