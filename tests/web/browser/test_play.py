"""A person's seat, played as a person would: by clicks, by keys, on a phone."""

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from asara_server.replay.analysis_file import analysis_bytes
from asara_server.replay.file import read_replay
from tests.events import wait_until
from tests.report.runs import decided
from tests.web.chromium import (
    BROKEN,
    LIMIT_MS,
    expect_no_scrolling_sideways,
    opened_page,
    violations,
)
from tests.web.play_pipe import WebStream
from tests.web.play_table import Table, parts_of, play_table

RICHEST = "pro+gifts+genie"


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    """A table for tests that send nothing, so that all find the first decision of its match."""
    with play_table(*["greedy"] * 3, "--rules", RICHEST, "--seed", "shared") as shared:
        yield shared


@contextmanager
def seat(browser: Browser, link: str, *, still: bool = True, **options: Any) -> Iterator[Page]:
    """Open a link in a profile of its own; the options are those of `opened_page`."""
    motion = "reduce" if still else "no-preference"
    with opened_page(browser, reduced_motion=motion, **options) as page:
        page.goto(link)
        yield page


def lit(page: Page) -> Locator:
    """What can be chosen on the board."""
    return page.locator("[data-lit]")


def choose(page: Page, target: str) -> None:
    """Click on something of the board as soon as it can be chosen."""
    page.locator(f"[data-lit][data-target='{target}']").click()


def send_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Send turn").or_(
        page.get_by_role("button", name="Send and look")
    )


def chips(page: Page) -> Locator:
    return page.get_by_role("group", name="Choices").get_by_role("button")


def steps(page: Page) -> Locator:
    return page.get_by_role("region", name="Your turn").get_by_role("listitem")


def click_on(page: Page) -> bool:
    """Choose the first thing that can be chosen, or send what is complete; return True if sent."""
    can = send_button(page).or_(chips(page)).or_(lit(page))
    expect(can.first).to_be_visible()
    if send_button(page).count():
        send_button(page).click()
        expect(send_button(page)).to_have_count(0)
        return True
    (chips(page) if chips(page).count() else lit(page)).first.click()
    return False


def play_turn(page: Page) -> None:
    """Choose the first thing each time, until the turn is sent."""
    assert any(click_on(page) for _ in range(40)), "the turn does not end"


CLICK_ON = """async (limit) => {
  const end = performance.now() + limit;
  while (performance.now() < end) {
    if (document.querySelector("#outcome")) return true;
    const next = ["[data-send]", "[data-chip]", "[data-lit]"]
      .map((thing) => document.querySelector(thing)).find((thing) => thing !== null);
    next?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  return false;
}"""
"""Clicks of the page's own, which are quicker: the same choices as `play_turn` makes."""


def play_match_by_script(page: Page) -> None:
    assert page.evaluate(CLICK_ON, LIMIT_MS), "the match does not end"


def test_a_whole_match_by_clicks(browser: Browser, tmp_path: Path) -> None:
    replays = tmp_path / "mine"
    words = ("greedy", "--rules", RICHEST, "--out", str(replays), "--seed", "clicks")
    with play_table(*words) as own, seat(browser, own.links[0], errors=BROKEN) as page:
        play_match_by_script(page)  # its replay may not be written when the page asks for it
        expect(page.get_by_role("heading", name="wins")).to_be_visible()
        expect(page.get_by_role("heading", name="Result")).to_be_visible()
        (file,) = wait_until("there is a replay", lambda: [*replays.glob("*.asara")])
        replay = read_replay(file)
        assert replay.header.entries == ("you", "greedy")
        assert not any(result.termination.forfeit for result in replay.ends)
        expect(page.get_by_text("The match is being analysed.")).to_be_visible()
        file.with_name(f"{file.stem}.analysis.json").write_bytes(analysis_bytes(decided(file)))
        decisive = page.get_by_role("region", name="What decided the match")
        mistakes = decisive.get_by_role("listitem").filter(has_text=re.compile(r"You\W+mistake"))
        expect(mistakes).to_have_count(3)
        expect(mistakes.first).to_contain_text("+0.40")
        expect(decisive).to_contain_text("You choose to ")
        expect(decisive.get_by_role("listitem")).to_have_count(3)
        expect(decisive.get_by_role("link")).to_have_count(0)  # the address belongs to the seat
        box = mistakes.first.bounding_box()
        assert box is not None
        assert box["height"] < box["width"], "its words have a column of one letter"
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Watch the replay").click()
        expect(opened.value.locator(".board")).to_be_visible()
        page.get_by_role("button", name="Play again").click()
        expect(lit(page).first).to_be_visible()
        expect(page.get_by_role("heading", name="Choose a space")).to_be_visible()


def test_some_turns_by_keyboard_alone(browser: Browser) -> None:
    with play_table("--seed", "keys") as table, seat(browser, table.links[0]) as page:
        expect(lit(page).first).to_be_visible()
        for _ in range(2):
            page.keyboard.press("Enter")
            expect(page.locator("[data-lit]:focus")).to_be_visible()
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            for _ in range(12):
                focused = page.locator("[data-lit]:focus, [data-chip]:focus, [data-send]:focus")
                expect(focused).to_be_visible()
                done = page.locator("[data-send]:focus").count() > 0
                page.keyboard.press("Enter")
                if done:
                    break
            expect(page.get_by_role("heading", name="Choose a space")).to_be_visible()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_two_people_at_one_table(browser: Browser) -> None:
    with play_table("--rules", "pro", people=2) as table, seat(browser, table.links[0]) as first:
        waiting = first.get_by_role("main")
        expect(waiting).to_contain_text("The match begins as soon as all players are ready.")
        expect(waiting).to_contain_text("player-2")
        assert violations(first) == []
        with seat(browser, table.links[1], still=False) as second:
            play_turn(first)
            expect(second.locator(".play-log li").first).to_contain_text("player-1")
            play_turn(second)
            expect(lit(first).first).to_be_visible()
            expect(second.locator(".skyline").first).to_contain_text("player-1")


def test_a_bot_that_fails_forfeits_and_the_person_wins(browser: Browser, tmp_path: Path) -> None:
    bot = tmp_path / "broken.py"
    bot.write_text("raise SystemExit(1)\n")
    with (
        play_table(str(bot), "--sandbox", "none") as table,
        seat(browser, table.links[0], errors=BROKEN) as page,
    ):
        expect(page.get_by_role("heading", name="You win")).to_be_visible()


def test_a_table_that_is_closed_says_so(browser: Browser) -> None:
    with play_table() as table, seat(browser, table.links[0], errors=BROKEN) as page:
        expect(lit(page).first).to_be_visible()
        table.process.terminate()
        expect(page.get_by_role("alert")).to_contain_text("The table is closed. Start “asara play”")


def test_a_table_that_has_gone_may_be_closed(browser: Browser) -> None:
    with play_table() as table, seat(browser, table.links[0], errors=BROKEN) as page:
        expect(lit(page).first).to_be_visible()
        table.process.kill()
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text(
            "If “asara play” has ended, the table is closed: start it again"
        )


def test_each_area_explains_itself_once(browser: Browser, table: Table) -> None:
    with seat(browser, table.links[0]) as page:
        choose(page, "space 6 12")
        expect(page.get_by_role("note")).to_contain_text("Your first visit here")
        page.keyboard.press("Escape")
        expect(page.get_by_role("note")).to_have_count(0)
        choose(page, "space 6 10")
        expect(steps(page)).to_have_count(1)
        expect(page.get_by_role("note")).to_have_count(0)
        page.locator("[data-target='space 6 12']").hover()
        expect(page.get_by_role("tooltip")).to_contain_text("Bank")


def test_a_hint_names_a_choice_and_marks_it_on_the_board(browser: Browser, table: Table) -> None:
    with seat(browser, table.links[0], errors=BROKEN) as page:
        turn = page.get_by_role("region", name="Your turn")
        button = page.get_by_role("button", name="Hint")
        asked: list[Route] = []

        def hold(route: Route) -> None:
            asked.append(route)

        page.route("**/api/hint", hold)
        button.click()
        expect(turn).to_contain_text("Hint: thinking")
        asked.pop().fulfill(status=422)
        expect(turn).not_to_contain_text("Hint: ")
        page.unroute("**/api/hint")
        button.click()
        page.locator("[data-better][data-lit]").first.click()
        expect(steps(page)).to_have_count(1)
        expect(turn).not_to_contain_text("Hint: ")
        assert violations(page) == []


def test_a_place_that_cannot_be_chosen_says_why(browser: Browser, table: Table) -> None:
    with seat(browser, table.links[0]) as page:
        turn = page.get_by_role("region", name="Your turn")
        expect(lit(page).first).to_be_visible()
        page.get_by_role("img", name=re.compile("^Building circle, plot 3")).click()
        expect(turn).to_contain_text("you have no sections with which exactly this number")
        page.get_by_role("img", name=re.compile("^Base market, space 4")).click()
        expect(turn).to_contain_text("Base market, space 2 does the same. Choose that space.")


def test_choices_beside_a_market_cover_none_of_its_goods(browser: Browser, table: Table) -> None:
    with seat(browser, table.links[0]) as page:
        for market in range(1, 5):
            choose(page, f"space {market} 2")
            lit(page).first.click()
            expect(page.get_by_role("group", name="Choices")).to_contain_text("Decline")
            for good in lit(page).all():
                good.click(trial=True)
            page.keyboard.press("Escape")
            page.keyboard.press("Escape")
            expect(steps(page)).to_have_count(0)


def test_the_page_tells_what_players_are_after(browser: Browser, table: Table) -> None:
    with seat(browser, table.links[0]) as page:
        expect(page).to_have_title("It is your turn – ASARA")
        expect(page.get_by_role("region", name="Your turn")).to_contain_text("most prestige")
        page.get_by_role("banner").get_by_role("button", name="Rules").click()
        rules = page.get_by_role("dialog", name="Rules")
        expect(rules).to_contain_text("Base market, Trunk market, Window market, Turret market")
        expect(rules).to_contain_text("At the end of each year")
        expect(rules).to_contain_text("gift cards")
        page.keyboard.press("Escape")
        expect(rules).to_have_count(0)
        expect(steps(page)).to_have_count(0)


def test_a_second_window_takes_the_seat_and_the_first_can_take_it_back(
    browser: Browser, table: Table
) -> None:
    with seat(browser, table.links[0]) as first:
        expect(lit(first).first).to_be_visible()
        with seat(browser, table.links[0]) as second:
            expect(lit(second).first).to_be_visible()
            expect(first.get_by_role("heading", name="open in another window")).to_be_visible()
            first.get_by_role("button", name="Play here").click()
            expect(lit(first).first).to_be_visible()
            expect(second.get_by_role("heading", name="open in another window")).to_be_visible()


def test_the_page_is_loaded_again_and_the_connection_breaks(browser: Browser) -> None:
    with play_table("--seed", "reload") as own, seat(browser, own.links[0]) as page:
        play_turn(page)
        expect(page.get_by_role("heading", name="Choose a space")).to_be_visible()
        before = page.locator(".skylines").inner_text()
        log = page.locator(".play-log ol > li")
        history = log.all_text_contents()
        hidden = page.get_by_role("img", name="Hidden: money")
        expect(hidden).to_have_count(1)
        page.reload()
        expect(page.get_by_role("heading", name="Choose a space")).to_be_visible()
        expect(page.locator(".skylines")).to_have_text(before, use_inner_text=True)
        # The whole history is there, and the opponent's screen is as closed as before.
        assert len(history) > 1
        expect(log.last).to_have_text(re.compile("^Year 1 begins"))  # before the first connection
        assert log.all_text_contents()[: len(history)] == history  # the newest first
        expect(hidden).to_have_count(1)
        lit(page).first.click()
        expect(steps(page)).to_have_count(1)
        with ThreadPoolExecutor() as pool:
            pool.submit(asyncio.run, _take_over(own.links[0])).result()
        page.get_by_role("button", name="Play here").click()
        expect(page.get_by_role("heading", name="Choose the buyers")).to_be_visible()
        expect(steps(page)).to_have_count(1)
        play_turn(page)
        expect(page.get_by_role("heading", name="Choose a space")).to_be_visible()


async def _take_over(link: str) -> None:
    """Sit down at a seat, and leave it without a word."""
    address, fragment = parts_of(link)
    stream = WebStream(address)
    await stream.hello(fragment["token"])
    await stream.expect("welcome")
    stream.call.cancel()


def test_the_token_is_in_no_address_that_is_sent(browser: Browser, table: Table) -> None:
    _, fragment = parts_of(table.links[0])
    sent: list[str] = []
    with opened_page(browser) as page:
        page.on("request", lambda r: sent.extend([r.url.partition("#")[0], str(r.headers)]))
        page.on("websocket", lambda socket: sent.append(socket.url))
        page.goto(table.links[0])
        with page.expect_request("**/api/preview"):
            lit(page).first.click()
    assert any("/ws/play" in text for text in sent)
    assert any("/api/preview" in text for text in sent)
    assert not any(fragment["token"] in text for text in sent)


def test_links_without_a_seat(browser: Browser, table: Table) -> None:
    address, _ = parts_of(table.links[0])
    with seat(browser, f"http://{address}/play") as page:
        expect(page.get_by_role("heading", name="This link has no seat")).to_be_visible()
        for fragment in ("#token=wrong", "#token=%00%FF&seats=<b>,x&me=-3&run=..%2F.."):
            page.goto(f"http://{address}/play{fragment}")
            page.reload()
            heading = page.get_by_role("heading", name="This link is no longer valid")
            expect(heading).to_be_visible()
            expect(page.get_by_role("main")).to_contain_text(
                "The table is closed. Start “asara play”"
            )


def test_axe_finds_nothing_and_a_phone_has_room(browser: Browser, table: Table) -> None:
    with seat(browser, table.links[0]) as page:
        expect(lit(page).first).to_be_visible()
        assert violations(page, rules=("label-content-name-mismatch",)) == []
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 800})
            lit(page).first.click()
            expect(steps(page)).to_have_count(1)
            expect(page.locator(".dock-held")).to_have_count(int(width == 360))
            assert violations(page) == []
            expect_no_scrolling_sideways(page)
            page.keyboard.press("Escape")
