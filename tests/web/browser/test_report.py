"""The report of a run in Chromium, opened from a disk, and as printed."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.cli.command import asara
from tests.report.runs import run_with_replays, write_run
from tests.tournament.samples import RUNNING, mirrored
from tests.web.chromium import expect_no_scrolling_sideways, violations


def report(run: Path, *options: str) -> str:
    """The address of the report that is written of a run."""
    done = asara("report", run, *options)
    assert done.returncode == 0, done.stderr
    return (run / "report.html").as_uri()


def part(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name)


def test_a_report_shows_the_run_and_asks_for_nothing(page: Page, tmp_path: Path) -> None:
    run, _ = run_with_replays(tmp_path / "run", 3)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if one.url[:5] != "data:" else None)
    address = report(run)
    page.goto(address)
    for name in ("Standings", "Ladder", "Score by seat", "Thinking time", "The run"):
        expect(part(page, name)).to_be_visible()
    expect(part(page, "Thinking time").get_by_role("row")).to_have_count(3)
    expect(part(page, "The run")).to_contain_text("asara audit .")
    expect(page.get_by_role("link").filter(visible=True)).to_have_count(1)  # to the content
    page.locator("select.language").select_option("de")
    expect(part(page, "Bedenkzeit")).to_be_visible()
    assert asked == [address]


def test_a_report_fits_every_width_and_has_no_barriers(page: Page, tmp_path: Path) -> None:
    names = [f"entry-{number}" for number in range(26)]
    page.goto(report(write_run(tmp_path / "run", mirrored(names, 2), entries=tuple(names))))
    expect(part(page, "Reasons of forfeits")).to_be_visible()
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        expect_no_scrolling_sideways(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert violations(page) == []
    page.set_viewport_size({"width": 718, "height": 1_000})  # A4 with its margins
    page.emulate_media(media="print")
    expect(page.get_by_role("columnheader", name="Prestige")).to_be_visible()
    expect(page.locator("select.language")).to_be_hidden()
    expect_no_scrolling_sideways(page)


def test_a_report_of_a_run_that_goes_on_stays_as_it_was_written(page: Page, tmp_path: Path) -> None:
    page.goto(report(write_run(tmp_path / "run", (), **RUNNING | {"state": "prepared"})))
    expect(page.get_by_text("The run as it was when this page was written.")).to_be_visible()


def test_a_report_leads_to_the_page_of_a_match(page: Page, tmp_path: Path) -> None:
    run, _ = run_with_replays(tmp_path / "run", 2)
    page.goto(report(run, "--pages"))
    page.locator("summary").click()
    page.get_by_role("link").filter(has_text="r1-basic-0002").click()
    expect(page).to_have_url(re.compile(r"/run/pages/r1-basic-0002\.html\b"))
    page.get_by_text("bot 1").first.wait_for()
