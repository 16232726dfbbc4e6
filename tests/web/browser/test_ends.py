"""The last screen of all that one plays or watches: its words, and how it looks."""

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.cli.command import in_terminal, received
from tests.events import EVENT_S
from tests.web.browser.test_play import lit, play_match_by_script
from tests.web.chromium import (
    BROKEN,
    expect_no_scrolling_sideways,
    expect_whole_in_sight,
    opened_page,
    violations,
)
from tests.web.live_table import live_table
from tests.web.play_table import play_table
from tests.web.test_web_command import write_tournament

WIDTHS = (360, 1280)
"""A phone and a desktop."""


@contextmanager
def still_page(browser: Browser) -> Iterator[Page]:
    """A page on a phone."""
    with opened_page(browser, errors=BROKEN, width=WIDTHS[0], reduced_motion="reduce") as page:
        yield page


def check_looks(page: Page, first: Locator) -> None:
    """What comes first is in sight, nothing scrolls sideways, and everybody can read it."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("scrollTo(0, 0)")
        expect_whole_in_sight(first)
        expect_no_scrolling_sideways(page)
    assert violations(page) == []


def style(part: Locator, name: str) -> str:
    return str(part.evaluate("(part, name) => getComputedStyle(part)[name]", name))


def check_scoring(page: Page) -> None:
    """The result, and the table of prestige, have their styles and say what they should."""
    ranking = page.get_by_role("region", name="Result")
    expect(ranking).to_be_visible()
    expect_whole_in_sight(ranking)  # without scrolling
    first = ranking.get_by_role("listitem").first
    assert style(first, "display") == "grid"
    assert style(ranking.get_by_role("list"), "listStyleType") == "none"
    expect(first).to_have_text(re.compile(r"^1\.\D+\d+$"))
    assert style(first.locator(".seat-name"), "overflow") == "hidden"
    ledger = page.locator(".ledger table")
    expect(ledger).to_contain_text("Year 1")
    expect(ledger).not_to_contain_text("Year 0")
    part, total = ledger.locator("tbody tr:not(.group) th").first, ledger.locator("tfoot th")
    assert int(style(total, "fontWeight")) > int(style(part, "fontWeight"))
    check_looks(page, ranking)


def test_the_end_of_a_match_that_is_played(browser: Browser) -> None:
    with play_table("--rules", "pro", "--seed", "ends") as table, still_page(browser) as page:
        page.goto(table.links[0])
        expect(lit(page).first).to_be_visible()
        page.reload()  # the history is there nevertheless
        play_match_by_script(page)
        expect(page.get_by_role("heading", name=re.compile("wins?$"))).to_be_visible()
        check_scoring(page)
        expect(page.get_by_role("img", name="Hidden: money")).to_have_count(0)  # screens are open
        winner = page.locator(".ranking .winner .seat-name").inner_text()
        expect(page.locator(".skyline.active")).to_contain_text(winner)
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Watch the replay").click()
        expect(opened.value.locator(".board")).to_be_visible()
        page.get_by_role("button", name="Play again").click()
        expect(lit(page).first).to_be_visible()


def test_the_end_of_a_live_match(browser: Browser, tmp_path: Path) -> None:
    with live_table(tmp_path) as table, still_page(browser) as page:
        table.play(20)
        page.goto(table.url)
        expect(page.get_by_text("The match is running.")).to_be_visible()
        table.play(10_000)
        check_scoring(page)
        expect(page.get_by_text("The match is running.")).to_have_count(0)


def test_the_end_of_a_run_that_is_watched(browser: Browser, tmp_path: Path) -> None:
    write_tournament(tmp_path)
    words = ("tournament", "run", "cup.toml", "--out", "cup", "--web", "127.0.0.1:0")
    with (
        in_terminal(*words, "--sandbox", "none", cwd=tmp_path) as (process, terminal),
        still_page(browser) as page,
    ):
        shown = received(terminal, b"/\r\n").decode()
        # Otherwise the command would wait with what it prints.
        threading.Thread(target=received, args=(terminal,), daemon=True).start()
        (address,) = re.findall(r"Showing matches at\s+(http://\S+)", shown)
        page.goto(f"{address}runs/cup")
        over = page.get_by_text("The run is finished.")
        expect(over).to_be_visible()
        expect(over).to_contain_text(re.compile("Best score: \\W?(one|other)"))
        expect(page.get_by_text("in progress")).to_have_count(0)
        expect_whole_in_sight(over)
        check_looks(page, over)
        page.get_by_role("link", name="Matches", exact=True).click()
        page.get_by_role("link", name=re.compile("one|other")).last.click()
        expect(page.locator(".board")).to_be_visible()
        position = page.get_by_role("slider", name="Position in the match")
        position.fill(position.get_attribute("max") or "")
        check_scoring(page)
        page.goto(f"{address}runs/cup")
        expect(over).to_be_visible()
        terminal.write(b"\n")
        assert process.wait(EVENT_S) == 0
        # The page asks seldom for a finished run; it asks when it is looked at.
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.get_by_text("The page ended with the run.")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_the_end_of_a_table_without_a_terminal(browser: Browser) -> None:
    """Without its server, the replay is shown from what the page has received."""
    with play_table("--matches", "1", "--seed", "ends") as table, still_page(browser) as page:
        page.goto(table.links[0])
        expect(lit(page).first).to_be_visible()
        play_match_by_script(page)
        check_scoring(page)
        assert table.stopped()[0] == 128 + signal.SIGTERM
        watch_replay(page)


def watch_replay(page: Page) -> None:
    page.get_by_role("link", name="Watch the replay").click()
    position = page.get_by_role("slider", name="Position in the match")
    position.fill("3")
    expect(page.get_by_text(re.compile("^Moment 3 of [0-9]{2,}"))).to_be_attached()
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)  # it would lead nowhere
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("region", name="Result")).to_be_visible()
