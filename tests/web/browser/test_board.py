"""The drawn table, in Chromium: at every size, in light and dark, and how it moves."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from asara_server.replay.match_page import PageLanguage, match_page, read_page_files
from tests.web.chromium import open_view, opened_page

MIDDLE = 230  # a moment of year 3


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with a match of the richest rules and four seats, all of it open."""
    path = tmp_path_factory.mktemp("board") / "match.html"
    content = match_page(open_view("richest-4"), read_page_files(), language=PageLanguage.EN)
    path.write_bytes(content)
    return path.as_uri()


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    """One page for all tests of this module, which change its size, media and moment."""
    with opened_page(browser) as page:
        page.goto(address)
        page.get_by_role("group", name="City").wait_for()
        yield page


SHOW = """moment => {
    location.hash = moment;
    dispatchEvent(new HashChangeEvent("hashchange")); // the address may be late, and change nothing
}"""


def _show(page: Page, width: int, moment: int = MIDDLE, **media: Any) -> None:
    page.set_viewport_size({"width": width, "height": 1080 if width > 1280 else 800})
    page.emulate_media(**{"color_scheme": "dark", "reduced_motion": "no-preference", **media})
    page.evaluate(SHOW, f"#moment-{moment}")
    expect(page.get_by_text(f"Moment {moment} of").first).to_be_attached()


def test_a_phone_shows_the_deciding_seat_and_folds_the_markets(page: Page) -> None:
    _show(page, 360)
    expect(page.get_by_role("group", name="greedy-3")).to_be_in_viewport(ratio=0.5)
    market = page.get_by_role("group", name="Turret market")
    expect(market).to_have_count(0)
    page.get_by_role("button", name="Markets").click()
    expect(market).to_have_count(1)
    page.get_by_role("button", name="Markets").click()


STEP = """async () => {
    for (const each of document.getAnimations()) each.cancel(); // of earlier steps
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    await new Promise(requestAnimationFrame);
    return document.getAnimations().map(each => Number(each.effect.getTiming().duration));
}"""


def _durations(page: Page) -> list[float]:
    """Step on; return the durations of all motions that it starts, in milliseconds.

    One script does both: it sees the motions before they can be over.
    """
    durations: list[float] = page.evaluate(STEP)
    return durations


def test_a_step_moves_briefly(page: Page) -> None:
    _show(page, 1280, 1)
    seen = [_durations(page) for _ in range(6)]
    assert any(seen)
    assert max(duration for each in seen for duration in each) <= 400


def test_reduced_motion_stands_still(page: Page) -> None:
    _show(page, 1280, 1, reduced_motion="reduce")
    for _ in range(6):
        assert not any(_durations(page))


def test_the_last_event_is_marked(page: Page) -> None:
    _show(page, 1280)
    marked = page.locator("[data-fresh]")
    expect(marked).to_have_count(1)
    expect(marked).to_have_attribute("aria-label", re.compile("^Bank, space 6: .*yellow"))
