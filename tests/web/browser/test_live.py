"""A running match on the page: it grows, and survives a broken connection."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.chromium import BROKEN, opened_page, slider
from tests.web.live_table import LiveTable, live_table


@pytest.fixture
def table(tmp_path: Path) -> Iterator[LiveTable]:
    with live_table(tmp_path) as table:
        yield table


@pytest.fixture
def viewer(browser: Browser, table: LiveTable) -> Iterator[Page]:
    """A page that watches the table, and whose connection may break."""
    with opened_page(browser, errors=BROKEN) as page:
        page.goto(table.url)
        yield page


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
    table.play(40)
    expect(viewer.get_by_text("The match is running.")).to_be_visible()
    before = expect_all(viewer, browser, table)
    slider(viewer).fill("7")
    table.break_connections(stay_down=True)
    lost = viewer.get_by_text("The connection is lost; the page connects again.")
    expect(lost).to_be_visible()
    table.play(40)
    assert last_moment(viewer) == before
    table.come_back()
    expect(viewer.get_by_text("The match is running.")).to_be_visible()
    after = expect_all(viewer, browser, table)
    assert after > before
    expect(slider(viewer)).to_have_value("7")
    table.break_connections(stay_down=False)
    table.play(10_000)
    expect(viewer.get_by_text("The match is running.")).to_be_hidden()
    expect(lost).to_be_hidden()
    assert last_moment(viewer) > after
    expect(slider(viewer)).to_have_value("7")
