"""The last screen of all that one plays or watches: its words, and how it looks."""

import os
import pty
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.cli.command import command_line, environment
from tests.web.browser.test_play import CLICK_ON, lit
from tests.web.chromium import opened_page, violations
from tests.web.live_table import live_table
from tests.web.play_table import play_table
from tests.web.test_web_command import write_tournament

WIDTHS = (1280, 360)
"""A desktop and a phone."""
END_MS = 60_000
"""Generous: the machine may be busy."""


@contextmanager
def still_page(browser: Browser, width: int) -> Iterator[Page]:
    with opened_page(browser, broken=True, width=width, reduced_motion="reduce") as page:
        yield page


def style(part: Locator, name: str) -> str:
    return str(part.evaluate("(part, name) => getComputedStyle(part)[name]", name))


def check_scoring(page: Page) -> None:
    """The result, and the table of prestige, have their styles and say what they should."""
    ranking = page.get_by_role("region", name="Result")
    expect(ranking).to_be_visible(timeout=END_MS)
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
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []


def in_sight(page: Page, part: Locator) -> bool:
    box = part.bounding_box()
    assert box is not None
    height: int = page.evaluate("innerHeight")
    return box["y"] >= 0 and box["y"] + box["height"] <= height


@pytest.mark.parametrize("width", WIDTHS)
def test_the_end_of_a_match_that_is_played(browser: Browser, width: int) -> None:
    with (
        play_table("--rules", "pro", "--seed", "ends") as table,
        still_page(browser, width) as page,
    ):
        page.goto(table.links[0])
        expect(lit(page).first).to_be_visible(timeout=END_MS)
        page.reload()  # the history is there nevertheless
        assert page.evaluate(CLICK_ON), "the match does not end"
        expect(page.get_by_role("heading", name=re.compile("wins?$"))).to_be_visible()
        check_scoring(page)
        assert in_sight(page, page.get_by_role("region", name="Result"))
        expect(page.get_by_role("img", name="Hidden: money")).to_have_count(0)  # screens are open
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Watch the replay").click()
        expect(opened.value.locator(".board")).to_be_visible()
        page.get_by_role("button", name="Play again").click()
        expect(lit(page).first).to_be_visible(timeout=END_MS)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_end_of_a_live_match(browser: Browser, tmp_path: Path, width: int) -> None:
    with live_table(tmp_path) as table, still_page(browser, width) as page:
        table.play(20)
        page.goto(table.url)
        expect(page.get_by_text("The match is running.")).to_be_visible(timeout=END_MS)
        table.play(10_000)
        assert table.over.wait(60)
        check_scoring(page)
        assert in_sight(page, page.get_by_role("region", name="Result"))
        expect(page.get_by_text("The match is running.")).to_have_count(0)


@contextmanager
def on_a_terminal(
    begin: str, *words: str, folder: Path | None = None
) -> Iterator[tuple["subprocess.Popen[bytes]", str, int]]:
    """Run a command on a terminal; yield it with the address that it prints after `begin`.

    The last value is the other end of the terminal.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command_line(*words), stdin=theirs, stdout=theirs, stderr=theirs, env=environment(),
        cwd=folder,
    )  # fmt: skip
    os.close(theirs)
    printed = b""
    try:
        while not (found := re.search(rf"{begin}\s+(http://\S+)\s".encode(), printed)):
            printed += os.read(ours, 4096)
        drain = threading.Thread(target=_drain, args=(ours,))
        drain.start()
        yield process, found[1].decode(), ours
    finally:
        process.kill()
        process.wait(10)
        os.close(ours)


def _drain(terminal: int) -> None:
    """Read what a command prints until it has ended, or it would wait."""
    with suppress(OSError):
        while os.read(terminal, 4096):
            pass


@pytest.mark.parametrize("width", WIDTHS)
def test_the_end_of_a_run_that_is_watched(browser: Browser, tmp_path: Path, width: int) -> None:
    write_tournament(tmp_path)
    words = ("tournament", "run", "cup.toml", "--out", "cup", "--sandbox", "none")
    with (
        on_a_terminal("Matches:", *words, "--web", "127.0.0.1:0", folder=tmp_path) as (
            process,
            address,
            terminal,
        ),
        still_page(browser, width) as page,
    ):
        page.goto(f"{address}runs/cup")
        over = page.get_by_text("The run is finished.")
        expect(over).to_be_visible(timeout=END_MS)
        expect(over).to_contain_text(re.compile("First: \\W?(one|other)"))
        expect(page.get_by_text("in progress")).to_have_count(0)
        assert in_sight(page, over)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert violations(page) == []
        page.get_by_role("link", name="Matches", exact=True).click()
        page.get_by_role("link", name=re.compile("one|other")).last.click()
        expect(page.locator(".board")).to_be_visible(timeout=END_MS)
        position = page.get_by_role("slider", name="Position in the match")
        position.fill(position.get_attribute("max") or "")
        check_scoring(page)
        assert in_sight(page, page.get_by_role("region", name="Result"))
        page.goto(f"{address}runs/cup")
        expect(over).to_be_visible(timeout=END_MS)
        os.write(terminal, b"\n")
        assert process.wait(60) == 0
        # The page asks seldom for a finished run; it asks when it is looked at.
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.get_by_text("The page ended with the run.")).to_be_visible(timeout=END_MS)
        expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_end_of_a_table(browser: Browser, width: int) -> None:
    with (
        on_a_terminal("Play at", "play", "--no-browser", "--matches", "1", "--seed", "ends") as (
            process,
            link,
            terminal,
        ),
        still_page(browser, width) as page,
    ):
        page.goto(link)
        expect(lit(page).first).to_be_visible(timeout=END_MS)
        assert page.evaluate(CLICK_ON), "the match does not end"
        check_scoring(page)
        expect(page.get_by_role("button", name="Play again")).to_have_count(0)
        os.write(terminal, b"\n")
        assert process.wait(60) == 0
        watch_replay(page)


def test_the_end_of_a_table_without_a_terminal(browser: Browser) -> None:
    """Its server ends at once: the replay is shown from what the page has received."""
    with play_table("--matches", "1", "--seed", "ends") as table, still_page(browser, 1280) as page:
        page.goto(table.links[0])
        expect(lit(page).first).to_be_visible(timeout=END_MS)
        assert page.evaluate(CLICK_ON), "the match does not end"
        check_scoring(page)
        assert table.ended()[0] == 0
        watch_replay(page)


def watch_replay(page: Page) -> None:
    page.get_by_role("link", name="Watch the replay").click()
    position = page.get_by_role("slider", name="Position in the match")
    position.fill("3")
    expect(page.get_by_text(re.compile("^Moment 3 of [0-9]{2,}"))).to_be_attached()
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)  # it would lead nowhere
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("region", name="Result")).to_be_visible()
