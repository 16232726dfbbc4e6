"""A running match on the page: it grows, and survives a broken connection."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.events import EVENT_S
from tests.web.chromium import opened_page
from tests.web.live_table import LiveTable, live_table


@pytest.fixture
def table(tmp_path: Path) -> Iterator[LiveTable]:
    with live_table(tmp_path) as table:
        yield table


@pytest.fixture
def viewer(browser: Browser) -> Iterator[Page]:
    """A page whose browser may log that a connection broke; scripts must not throw."""
    with opened_page(browser, broken=True) as page:
        yield page


def last_moment(page: Page) -> int:
    """Largest position on the scrub bar."""
    return int(_bar(page).get_attribute("max") or 0)


def position(page: Page) -> int:
    return int(_bar(page).input_value())


def _bar(page: Page) -> Locator:
    return page.get_by_role("slider", name="Position in the match")


def grown(page: Page, more_than: int) -> int:
    """Wait until the match has more moments than this; return their number."""
    expect(_bar(page)).not_to_have_attribute("max", str(more_than))
    page.wait_for_timeout(500)
    return last_moment(page)


def test_a_running_match_grows_and_the_moment_that_is_looked_at_stays(
    table: LiveTable, viewer: Page
) -> None:
    table.play(30)
    viewer.goto(table.url)
    expect(viewer.get_by_text("The match is running.")).to_be_visible()
    before = grown(viewer, 0)
    _bar(viewer).fill("5")
    expect(_bar(viewer)).to_have_attribute("aria-valuetext", re.compile("^Moment 5 of"))
    table.play(30)
    assert grown(viewer, before) > before
    assert position(viewer) == 5
    expect(_bar(viewer)).to_have_attribute("aria-valuetext", re.compile("^Moment 5 of"))


def test_a_page_that_lost_its_connection_goes_on_where_it_was(
    table: LiveTable, viewer: Page, browser: Browser
) -> None:
    table.play(40)
    viewer.goto(table.url)
    expect(viewer.get_by_text("The match is running.")).to_be_visible()
    before = grown(viewer, 0)
    _bar(viewer).fill("7")
    table.break_connections(stay_down=True)
    lost = viewer.get_by_text("The connection is lost; the page connects again.")
    expect(lost).to_be_visible()
    table.play(40)
    viewer.wait_for_timeout(500)
    assert last_moment(viewer) == before
    table.come_back()
    expect(viewer.get_by_text("The match is running.")).to_be_visible(timeout=10_000)
    after = grown(viewer, before)
    assert position(viewer) == 7
    fresh = browser.new_page()
    fresh.goto(table.url)
    assert grown(fresh, 0) == after  # nothing is missing, and nothing is there twice
    fresh.close()
    table.break_connections(stay_down=False)
    table.play(10_000)
    assert table.over.wait(EVENT_S)
    expect(viewer.get_by_text("The match is running.")).to_be_hidden(timeout=10_000)
    expect(lost).to_be_hidden()
    assert last_moment(viewer) > after
    assert position(viewer) == 7
