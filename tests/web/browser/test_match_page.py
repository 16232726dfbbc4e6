"""The page of a match: served, in a file, in a frame, and beside other matches of its block."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, Request, expect

from asara_server.replay.file import read_replay
from asara_server.replay.match_page import PageLanguage, match_page, read_page_files
from asara_server.replay.replay_view import OPEN, replay_view, seat_viewer
from tests.cli.command import asara_process
from tests.events import wait_until
from tests.web.chromium import (
    MATCHES,
    expect_no_scrolling_sideways,
    open_view,
    opened_page,
    slider,
    violations,
    visit,
)
from tests.web.web_process import asara_web

PARENT: Final = "http://parent.example"
"""Origin of a page that may embed matches."""
HOSTILE: Final = "<img src=x onerror=alert(1)>\u202edrows\u2066"


class Site:
    """A web server with the sample matches and a mirrored block."""

    def __init__(self, address: str) -> None:
        self.address = address

    def match(self, name: str, rest: str = "") -> str:
        return f"{self.address}/runs/samples/matches/{name}{rest}"

    def block(self) -> str:
        return f"{self.address}/runs/pair/blocks/r1-pro-0001"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "samples").mkdir()
    for path in MATCHES.glob("*.asara"):
        shutil.copy(path, folder / "samples")
    pair = ("match", "greedy", "random", "--mirrored", "--rules", "pro", "--seed", "3")
    played = asara_process(*pair, "--sandbox", "none", "--out", folder / "pair")
    assert played.returncode == 0, played.stderr
    with asara_web("--embed", PARENT, folder) as address:
        yield Site(address)


@pytest.fixture
def offline(tmp_path: Path) -> Callable[..., str]:
    """Writes a match as one file, and returns its address."""

    def write(
        name: str, *, seat: int | None = None, change: Callable[[bytes], bytes] = bytes
    ) -> str:
        path = MATCHES / f"{name}.asara"
        seen = replay_view(read_replay(path), OPEN if seat is None else seat_viewer(seat))
        replay = path.read_bytes() if seat is None else None
        page = match_page(seen, read_page_files(), replay)
        (tmp_path / "match.html").write_bytes(change(page))
        return (tmp_path / "match.html").as_uri()

    return write


def stop_clock(page: Page) -> None:
    """Stop the time of a page whose clock is installed; the test moves it from now on."""
    page.clock.pause_at(86_400)


def position(page: Page) -> int:
    return int(slider(page).input_value())


def expect_position(page: Page | FrameLocator, moment: int | str) -> None:
    expect(slider(page)).to_have_value(str(moment))


def last(page: Page) -> int:
    return int(slider(page).get_attribute("max") or 0)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


# Moving through a match


def test_keys_alone_lead_through_a_match(page: Page, site: Site) -> None:
    visit(page, site.match("richest-4", "?viewer=open"))
    expect_position(page, 0)
    press(page, "ArrowRight", "ArrowRight", "ArrowLeft")
    expect_position(page, 1)
    press(page, "Shift+ArrowRight", "Shift+ArrowRight")
    expect(slider(page)).not_to_have_value(re.compile("^[01]$"))
    press(page, "PageDown")
    expect(page.get_by_role("banner").get_by_text("Year 2 of 4")).to_be_visible()
    press(page, "b")
    expect(page.get_by_label("What happened")).to_contain_text("builds")
    press(page, "a")
    expect(page.get_by_label("What happened")).to_contain_text("for the year")
    press(page, "2")
    expect(page.get_by_role("heading", name="The decision")).to_be_visible()
    expect(page).to_have_url(re.compile(r"#seat-2-decision-\d+$"))
    press(page, "End")
    expect_position(page, last(page))
    press(page, "Home")
    expect_position(page, 0)


def test_every_control_does_what_its_name_says(page: Page, site: Site) -> None:
    visit(page, site.match("forfeit-3"))
    for name, moves in (("One step on", 1), ("One step back", -1)):
        before = position(page)
        page.get_by_role("button", name=name, exact=True).click()
        expect_position(page, before + moves)
    page.get_by_role("button", name="One turn on").click()
    page.get_by_role("button", name="One year on").click()
    expect(page.get_by_role("banner").get_by_text("Year 2 of 4")).to_be_visible()
    page.get_by_role("button", name="One year back").click()
    page.get_by_role("button", name="One turn back").click()
    page.get_by_role("button", name="To the end", exact=True).first.click()
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    page.get_by_role("button", name="To the start").first.click()
    page.locator("summary", has_text="Jump").click()
    page.get_by_role("button", name="Next forfeit or rejection").click()
    expect(page.get_by_label("What happened")).to_contain_text("forfeit")
    slider(page).fill("3")
    expect_position(page, 3)


def test_playing_takes_time_and_ends_with_the_awards(page: Page, site: Site) -> None:
    page.clock.install(time=0)
    visit(page, site.match("basic-2"))
    page.get_by_role("combobox", name="Speed").select_option("8×")
    end = last(page)
    slider(page).fill(str(end - 2))
    stop_clock(page)
    press(page, "Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect_position(page, end - 2)

    def at_end() -> bool:
        page.clock.run_for(100)
        return position(page) == end

    wait_until("the end of the match", at_end)
    expect(page.get_by_label("Final scoring").get_by_role("heading", level=3)).to_be_visible()
    expect(page.get_by_role("heading", name="Result")).to_have_count(0)
    page.clock.run_for(10_000)
    expect(page.get_by_role("heading", name="Result")).to_be_visible()  # after the awards
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_the_help_lists_the_keys_and_gives_the_focus_back(page: Page, site: Site) -> None:
    visit(page, site.match("basic-2"))
    page.get_by_role("button", name="Keys").focus()
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("Next build")
    press(page, "ArrowRight", "Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Keys")).to_be_focused()
    expect_position(page, 0)


def test_single_keys_can_be_switched_off(page: Page, site: Site) -> None:
    visit(page, site.match("basic-2"))
    press(page, "?")
    page.get_by_label("Single letters and digits work as keys").uncheck()
    press(page, "Escape", "b")
    expect_position(page, 0)
    press(page, "ArrowRight")
    expect_position(page, 1)


def test_settings_are_remembered(page: Page, site: Site) -> None:
    visit(page, site.match("basic-2"))
    page.get_by_role("combobox", name="Speed").select_option("4×")
    page.get_by_role("combobox", name="View").select_option(label="Everything open")
    page.get_by_role("button", name="Appearance: As the system").click()
    visit(page, site.match("pro-4"))
    expect(page.get_by_role("combobox", name="Speed")).to_have_value("4")
    expect(page.get_by_role("combobox", name="View")).to_have_value("open")
    expect(page.get_by_role("button", name="Appearance: Dark")).to_be_visible()
    page.evaluate("localStorage.setItem('asara.speed', '\"><script>')")
    visit(page, site.match("basic-2"))
    expect(page.get_by_role("combobox", name="Speed")).to_have_value("1")


# Links


def test_a_link_opens_its_decision(page: Page, site: Site) -> None:
    visit(page, site.match("richest-4", "?viewer=seat-1#seat-1-decision-3"))
    decision = page.get_by_label("The decision", exact=True)
    expect(decision).to_contain_text("Time used")
    expect(decision).to_contain_text("chosen")
    expect(page).to_have_url(re.compile(r"viewer=seat-1#seat-1-decision-3$"))


def test_a_link_to_nothing_says_so(page: Page, site: Site) -> None:
    visit(page, site.match("richest-4", "?viewer=open#%3Cscript%3E"))
    sentence = "The link names no moment of the match; the start is shown"
    expect(page.get_by_role("status").filter(has_text=sentence)).to_be_visible()
    press(page, "ArrowLeft")
    expect(page.get_by_text(sentence)).to_be_hidden()


def test_a_link_leads_to_the_matches_of_the_run(page: Page, site: Site) -> None:
    for address in (site.match("richest-4"), site.block()):
        visit(page, address)
        page.get_by_role("link", name="All matches of this run").click()
        expect(page.get_by_role("list", name="Matches")).to_be_visible()


# What a viewer sees


def test_another_viewer_is_another_answer_of_the_server(page: Page, site: Site) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(unquote(request.url)))
    visit(page, site.match("richest-4", "?viewer=seat-0#seat-0-decision-9"))
    expect(page.get_by_label("The decision", exact=True)).to_contain_text("legal actions")
    moment = page.get_by_text(re.compile(r"^Moment \d+ of \d+, year \d$"))
    place = moment.inner_text()
    page.get_by_role("combobox", name="View").select_option(label="Everybody")
    expect(page.get_by_role("button", name=re.compile("^Show it in .*view$"))).to_be_visible()
    expect(moment).not_to_have_text(place)
    views = [address for address in asked if "/view?" in address]
    assert [address.partition("viewer=")[2] for address in views] == ["seat-0", "everybody"]


def test_the_table_can_be_read(page: Page, site: Site) -> None:
    visit(page, site.match("pro-4", "?viewer=seat-1#moment-60"))
    page.locator("summary", has_text="The table as text").click()
    expect(page.get_by_role("heading", name="markets", exact=False).first).to_be_visible()
    live = page.locator("[aria-live=polite]").first
    before = live.inner_text()
    press(page, "ArrowRight")
    expect(live).not_to_have_text(before)


def test_hostile_names_and_logs_are_text(page: Page, tmp_path: Path) -> None:
    seen = open_view("basic-2")
    seen.entries[0] = HOSTILE
    decided = next(moment for moment in seen.moments if moment.HasField("decision"))
    decided.decision.log = HOSTILE
    (tmp_path / "match.html").write_bytes(match_page(seen, read_page_files()))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    decision = decided.decision
    link = f"#seat-{decision.seat}-decision-{decision.decision_id}"
    page.goto((tmp_path / "match.html").as_uri() + link)
    expect(page.get_by_text("<img src=x").first).to_be_visible()
    expect(page.locator("pre")).to_have_text(HOSTILE)
    expect(page.locator("img")).to_have_count(0)


# The end of a match


def test_the_awards_come_one_by_one_and_then_a_table(page: Page, site: Site) -> None:
    page.clock.install(time=0)
    visit(page, site.match("richest-4", "?viewer=open"))
    stop_clock(page)
    press(page, "End")
    ranks = page.get_by_label("Result", exact=True).get_by_role("listitem")
    expect(ranks).to_have_count(4)
    page.get_by_role("button", name="Award by award").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()  # they go on by themselves
    press(page, "Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(ranks).to_have_count(0)
    press(page, "End", "ArrowRight")
    award = page.get_by_label("Final scoring").get_by_role("heading", level=3)
    expect(award).to_have_text(re.compile("^Highest brown tower"))
    expect(ranks).to_have_count(0)
    titles = [award.inner_text()]
    for _ in range(7):
        press(page, "ArrowRight")
        expect(award).not_to_have_text(titles[-1])
        titles.append(award.inner_text())
    assert len(set(titles)) == 8
    press(page, "ArrowRight")
    expect(page.get_by_role("table")).to_be_visible()


def test_without_spoilers_neither_result_nor_length_is_shown(page: Page, site: Site) -> None:
    visit(page, site.match("forfeit-3"))
    length = last(page)
    page.get_by_role("button", name="Without spoilers").click()
    expect(page.get_by_text(re.compile(r"^Moment 0, year 1$"))).to_be_visible()
    press(page, "ArrowRight", "ArrowRight", "f")
    expect_position(page, 2)
    expect(slider(page)).to_have_attribute("max", "2")
    expect(page.get_by_text("There is no further one")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text(str(length), use_inner_text=True)
    press(page, "End")
    expect_position(page, 2)
    page.goto("about:blank")
    visit(page, site.match("forfeit-3", "#moment-99999"))
    expect_position(page, 0)
    page.goto("about:blank")
    visit(page, site.match("forfeit-3", f"#moment-{length - 1}"))
    expect(page.get_by_role("heading", name="Result")).to_be_hidden()
    press(page, "ArrowRight")
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    expect(slider(page)).to_have_attribute("max", str(length))


def test_the_signature_is_checked_against_the_key_of_the_run(page: Page, site: Site) -> None:
    visit(page, f"{site.address}/runs/pair/matches/r1-pro-0001-1")
    page.locator("summary", has_text="Signature").click()
    expect(page.get_by_text("unchanged and signed with the key of this run")).to_be_visible()
    expect(page.get_by_text(re.compile("^Key [0-9a-f]{16}$"))).to_be_visible()


# Side by side


def test_a_block_is_shown_in_step_and_its_first_difference_is_found(page: Page, site: Site) -> None:
    visit(page, f"{site.address}/runs/pair/matches/r1-pro-0001-1")
    page.get_by_role("link", name="Side by side").click()
    sides = page.get_by_role("region", name=re.compile("^Match "))
    expect(sides).to_have_count(2)
    expect(page.get_by_text("The matches part here")).to_have_count(0)
    page.get_by_role("button", name="To the first different decision").click()
    for side in sides.all():
        expect(side.get_by_text("The matches part here")).to_be_visible()
    told = [side.locator("p").nth(1).inner_text() for side in sides.all()]
    assert told[0] != told[1]
    press(page, "ArrowRight")
    page.get_by_role("combobox", name="In step by").select_option("moment")
    press(page, "Home", "d")
    expect(page.get_by_text("The matches part here").first).to_be_visible()
    sides.first.get_by_role("link", name="Open match").click()
    expect(page).to_have_url(re.compile("matches/r1-pro-0001-1"))


def test_a_phone_shows_the_seat_that_forfeits(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    visit(page, site.match("forfeit-3"))
    press(page, "f")
    expect(page.locator(".skyline", has_text="Crashed")).to_be_in_viewport(ratio=0.9)


def test_a_phone_shows_one_match_of_a_block(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    visit(page, site.block())
    sides = page.get_by_role("region", name=re.compile("^Match "))
    expect(sides).to_have_count(1)
    expect(sides).to_have_accessible_name(re.compile("r1-pro-0001-1"))
    page.get_by_role("combobox", name="Match shown").select_option(index=1)
    expect(sides).to_have_accessible_name(re.compile("r1-pro-0001-2"))
    expect_no_scrolling_sideways(page)


# In a frame


def test_a_page_around_it_controls_an_embedded_match(page: Page, site: Site) -> None:
    frame = site.match("basic-2", "?embed")
    html = f"""<!doctype html><title>Parent</title><iframe src="{frame}" width="800" height="600">
    </iframe><script>window.told = [];
    addEventListener("message", e => told.push(e.data));</script>"""
    page.route(f"{PARENT}/", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(f"{PARENT}/")
    inside = page.frame_locator("iframe")
    expect_position(inside, 0)
    wait_until("the match listens", lambda: page.frames[-1].title().endswith("– ASARA"))
    expect(inside.get_by_role("heading", name="What happened")).to_have_count(0)

    def send(message: object) -> None:
        page.evaluate("m => frames[0].postMessage(m, '*')", message)

    send({"asara": 1, "type": "goTo", "moment": 12})
    expect_position(inside, 12)
    assert page.evaluate("told") == []
    for wrong in ("play", {"type": "play"}, {"asara": 1, "type": "goTo", "moment": -1}, None):
        send(wrong)
    send({"asara": 1, "type": "subscribe"})
    page.wait_for_function("told.length > 0")
    state = page.evaluate("told.at(-1)")
    assert (state["type"], state["moment"], state["playing"]) == ("state", 12, False)
    send({"asara": 1, "type": "play"})
    page.wait_for_function("told.at(-1).playing && told.at(-1).moment > 12")
    send({"asara": 1, "type": "pause"})
    page.wait_for_function("!told.at(-1).playing")


# One file


def test_a_file_needs_no_network(page: Page, offline: Callable[..., str]) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    visit(page, offline("richest-4"))
    expect_position(page, 0)
    press(page, "Shift+ArrowRight", "v")
    expect(page.get_by_role("combobox", name="View")).to_have_value("everybody")
    page.get_by_role("combobox", name="View").select_option("seat-2")
    press(page, "End")
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    page.locator("summary", has_text="Signature").click()
    expect(page.get_by_text("The file is unchanged since the owner of this key")).to_be_visible()
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked), asked


def test_the_file_of_a_seat_shows_that_seat_and_why_nothing_can_be_checked(
    page: Page, offline: Callable[..., str]
) -> None:
    visit(page, offline("richest-4", seat=1))
    options = page.get_by_role("combobox", name="View").get_by_role("option")
    expect(options).to_have_count(2)
    page.locator("summary", has_text="Signature").click()
    expect(page.get_by_text("This page contains only what")).to_be_visible()


def test_the_language_of_a_file_overrules_the_browser(browser: Browser, tmp_path: Path) -> None:
    content = match_page(open_view("basic-2"), read_page_files(), language=PageLanguage("nl"))
    (tmp_path / "match.html").write_bytes(content)
    with opened_page(browser, locale="de") as page:
        page.goto(f"{(tmp_path / 'match.html').as_uri()}#moment-6")
        expect(page.locator("html")).to_have_attribute("lang", "nl")
        expect(page.get_by_text("koopt een bruin basiselement met goud").first).to_be_attached()


def test_damaged_data_is_a_sentence(page: Page, offline: Callable[..., str]) -> None:
    def cut(content: bytes) -> bytes:
        return re.sub(rb'(id="replay-view">[^<]{400})[^<]*', rb"\1", content)

    page.goto(offline("basic-2", change=cut))
    expect(page.get_by_role("alert")).to_contain_text("damaged")


# For everybody


@pytest.mark.parametrize(
    ("scheme", "rules"), [("light", ()), ("dark", ("color-contrast",))], ids=["light", "dark"]
)
def test_accessibility_in_light_and_dark(
    page: Page, site: Site, scheme: Any, rules: tuple[str, ...]
) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    visit(page, site.match("richest-4", "?viewer=open#moment-150"))
    expect(page.get_by_role("heading", name="What happened")).to_be_visible()
    assert violations(page, rules=rules) == []
    press(page, "End")
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    assert violations(page, rules=rules) == []
    press(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page, "dialog", rules) == []
    visit(page, site.block())
    expect(page.get_by_role("region", name=re.compile("^Match ")).first).to_be_visible()
    assert violations(page, rules=rules) == []


def switch(page: Page, language: str) -> None:
    page.locator("select.language").select_option(language)
    expect(page.locator("html")).to_have_attribute("lang", language)


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_scrolls_sideways(page: Page, site: Site, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    visit(page, site.match("richest-4", "?viewer=open#moment-100"))
    for language in ("de", "en", "fr", "it", "nl", "es"):
        switch(page, language)
        for key in ("End", "Home"):
            press(page, key)
            expect_no_scrolling_sideways(page)


FITS = """height => {
    const box = part => part.getBoundingClientRect();
    const head = box(document.querySelector("header"));
    const bar = box(document.querySelector("footer"));
    const parts = [...document.querySelectorAll("main svg[role=group]")].map(box);
    return document.documentElement.scrollHeight === height && head.height < 80
        && parts.length > 0
        && parts.every(part => part.top >= head.bottom && part.bottom <= bar.top);
}"""
"""The head has one row, and the parts of the table lie between it and the bar at the bottom."""


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1366, 768), (1920, 1080)])
def test_the_whole_table_fits_the_window(page: Page, site: Site, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    visit(page, site.match("richest-4", "?viewer=open#moment-250"))
    for language in ("en", "de", "fr"):
        switch(page, language)
        wait_until("the table fits the window", lambda: page.evaluate(FITS, height))
