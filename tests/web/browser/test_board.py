"""The drawn table, in Chromium: at every size, in light and dark, and how it moves."""

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
"""Steps on; returns the durations of all motions that this starts, in milliseconds.

One script does both: it sees the motions before they can be over.
"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_step_moves_briefly_and_stands_still_if_the_reader_wants_that(
    page: Page, motion: str
) -> None:
    _show(page, 1280, 1, reduced_motion=motion)
    durations = [duration for _ in range(6) for duration in page.evaluate(STEP)]
    assert bool(durations) is (motion == "no-preference")
    assert max(durations, default=0) <= 400
