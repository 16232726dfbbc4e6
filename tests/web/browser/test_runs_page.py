"""The pages about runs in Chromium: as a user sees them, by mouse and by keyboard."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from asara_codec.results import Termination
from asara_server.journal.journal import Fact, Journal
from asara_server.tournament.run.directory import open_journal
from asara_server.tournament.run.run_record import RUN
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome
from tests.report.runs import run_with_replays
from tests.tournament.samples import INFO, RUNNING, change_run, match, mirrored, write_run
from tests.web.chromium import BROKEN, expect_no_scrolling_sideways, opened_page, violations
from tests.web.web_process import asara_web

HOSTILE = '<img src=x onerror="document.title=1">\u202egnp.exe'
WIDTHS = (360, 768, 1280, 1920)
MANY = 2_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs: a small one, one of 2,000 matches, one with replays, and one with hostile names."""
    folder = tmp_path_factory.mktemp("web") / "runs"
    folder.mkdir()
    write_run(folder / "cup", mirrored())
    shuffled = islice(cycle(mirrored(rounds=2)), MANY)
    many = [
        replace(result, match_id=f"m{n:05}", block=f"b{n:05}") for n, result in enumerate(shuffled)
    ]
    write_run(folder / "many", many, title="Many matches", scheduled=MANY)
    run_with_replays(folder / "replays", 2, title="With replays")
    names = [f"entry-number-{number}" for number in range(16)]
    write_run(folder / "wide", mirrored(names, 2), entries=tuple(names), title="Wide")
    seats = (outcome(HOSTILE, 1), outcome("bob", 2, Termination.CRASH, f"said {HOSTILE}"))
    write_run(folder / "hostile", [match("h1", *seats)], title=HOSTILE, entries=(HOSTILE, "bob"))
    return folder


def outcome(
    entry: str, rank: int, termination: Termination = Termination.COMPLETED, detail: str = ""
) -> SeatOutcome:
    return SeatOutcome(entry=entry, rank=rank, prestige=50, termination=termination, detail=detail)


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with asara_web(folder) as address:
        yield address


@pytest.fixture
def missing_page(browser: Browser) -> Iterator[Page]:
    """A page whose console may name answers with status 4xx."""
    with opened_page(browser, errors=BROKEN) as page:
        yield page


def heading(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def rows(page: Page) -> Locator:
    return page.get_by_role("list", name="Matches").get_by_role("link")


def test_a_run_is_opened_from_the_list(page: Page, address: str):
    page.goto(address)
    page.get_by_role("link", name="Spring cup").click()
    expect(heading(page)).to_have_text("Spring cup")
    expect(page).to_have_url(f"{address}/runs/cup")
    standings = page.get_by_role("region", name="Standings").get_by_role("table")
    expect(standings.get_by_role("row")).to_have_count(5)
    expect(standings.get_by_role("rowheader")).to_have_count(4)
    page.go_back()
    expect(heading(page)).to_have_text("Runs")


def test_the_cross_table_leads_to_the_matches_of_two(page: Page, address: str):
    page.goto(f"{address}/runs/cup")
    cell = page.get_by_role("region", name="Cross table").get_by_role("link").first
    cell.click()
    expect(page.get_by_role("combobox", name="Opponent")).not_to_have_value("")
    expect(page.get_by_text("16 matches", exact=True)).to_be_visible()


def test_the_other_tables_are_loaded_when_they_are_opened(page: Page, address: str):
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto(f"{address}/runs/cup")
    expect(page.get_by_role("region", name="Standings")).to_be_visible()
    assert not [url for url in asked if "details" in url]
    page.get_by_text("Seats, times, reasons of forfeits, keys").click()
    faults = page.get_by_role("region", name="Reasons of forfeits")
    expect(faults.get_by_role("row")).to_have_text([re.compile("Entry"), re.compile("dan.*crash")])
    expect(page.get_by_role("region", name="Score by seat")).to_be_visible()
    expect(page.get_by_role("region", name="The run")).not_to_contain_text("the seed")


def test_filters_are_in_the_address(page: Page, address: str):
    page.goto(f"{address}/runs/cup/matches")
    expect(page.get_by_text("96 matches", exact=True)).to_be_visible()
    page.get_by_role("combobox", name="Entry").select_option("dan")
    page.get_by_role("combobox", name="Forfeit").select_option("crash")
    expect(page.get_by_text("3 matches", exact=True)).to_be_visible()
    expect(page).to_have_url(f"{address}/runs/cup/matches?entry=dan&forfeit=crash")
    page.reload()
    expect(page.get_by_text("3 matches", exact=True)).to_be_visible()
    expect(page.get_by_role("combobox", name="Entry")).to_have_value("dan")
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_text("96 matches", exact=True)).to_be_visible()


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("cup/matches?entry=ann&state=x", "state: write one of"), ("gone", "there is no run 'gone'")],
)
def test_the_sentence_of_a_refusal_is_shown(
    missing_page: Page, address: str, path: str, sentence: str
):
    missing_page.goto(f"{address}/runs/{path}")
    expect(missing_page.get_by_role("alert")).to_contain_text(sentence)


def test_a_list_of_two_thousand_matches_has_few_rows_at_a_time(page: Page, address: str):
    page.goto(f"{address}/runs/many/matches")
    expect(page.get_by_text("2,000 matches", exact=True)).to_be_visible()
    expect(page.locator("[data-row='0']")).to_contain_text("ann")
    most_rows = page.evaluate(
        """async () => {
            let most = 0;
            const height = document.documentElement.scrollHeight;
            for (let step = 0; step <= 40; step += 1) {
                window.scrollTo(0, height * step / 40);
                await new Promise(requestAnimationFrame);
                most = Math.max(most, document.querySelectorAll("[data-row]").length);
            }
            return most;
        }"""
    )
    assert 0 < most_rows < 80
    expect(page.locator("[data-row='1999']")).to_contain_text("place 1")


def test_enter_opens_a_match(page: Page, address: str):
    page.goto(f"{address}/runs/replays/matches")
    row = page.locator("[data-row='1']")
    expect(row).to_contain_text("bot 0")
    row.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/runs/replays/matches/r1-basic-0002"))
    expect(heading(page)).to_contain_text("bot 0")


def test_results_are_hidden_on_every_page(page: Page, address: str):
    page.goto(f"{address}/runs/cup")
    page.get_by_role("button", name="Hide results").click()
    expect(page.get_by_text("Results are hidden on this page.")).to_be_visible()
    expect(page.get_by_role("table")).to_have_count(0)
    page.get_by_role("link", name="Matches", exact=True).click()
    expect(page.locator("[data-row='0']")).to_contain_text("ann")
    expect(page.locator("[data-row='0']")).not_to_contain_text("prestige", ignore_case=True)
    expect(page.get_by_role("combobox", name="Result")).to_have_count(0)
    page.get_by_role("link", name="ASARA").click()
    expect(page.get_by_text("Best score:")).to_have_count(0)
    page.goto(f"{address}/runs/cup")
    page.get_by_role("button", name="Show results").click()
    expect(page.get_by_role("region", name="Standings")).to_be_visible()


def test_names_are_text_and_keep_their_direction_to_themselves(page: Page, address: str):
    for path in ("/", "/runs/hostile", "/runs/hostile/matches"):
        page.goto(address + path)
        expect(page.get_by_text("<img src=x").first).to_be_visible()
        expect(page).to_have_title(re.compile("– ASARA$"))
        expect(page.locator("img")).to_have_count(0)
        assert "\u202e" not in page.content()
        directions = page.get_by_text("<img src=x").first.evaluate(
            "element => getComputedStyle(element.closest('bdi') ?? element).unicodeBidi"
        )
        assert directions == "isolate"


def end_matches(journal: Journal, results: list[MatchResult]) -> None:
    for result in results:
        journal.end(result.played_as, result.to_json())


def test_a_run_that_goes_on_is_shown_without_reloading(browser: Browser, tmp_path: Path):
    folder = tmp_path / "runs"
    results = [
        replace(result, started="2026-01-01T10:00:00+00:00") for result in mirrored(rounds=2)
    ]
    write_run(folder / "cup", results[:4], **RUNNING)
    # The open journal shows that a program is playing the run.
    with (
        closing(open_journal(folder / "cup")) as journal,
        asara_web(folder) as address,
        opened_page(browser) as page,
    ):
        page.goto(f"{address}/runs/cup")
        expect(page.get_by_text("4 of 96 matches")).to_be_visible()
        end_matches(journal, results[4:10])
        expect(page.get_by_text("10 of 96 matches")).to_be_visible()
        page.get_by_role("link", name="Matches", exact=True).click()
        expect(page.get_by_text("10 matches", exact=True)).to_be_visible()
        end_matches(journal, results[10:12])
        expect(page.get_by_text("12 matches", exact=True)).to_be_visible()


def test_the_page_of_a_match_tells_that_its_run_is_over(browser: Browser, tmp_path: Path):
    cup = tmp_path / "runs" / "cup"
    run_with_replays(cup, 2)
    change_run(cup, state="running", ended=None)
    with (
        asara_web(cup.parent) as address,
        closing(open_journal(cup)) as journal,
        opened_page(browser) as page,
    ):
        with page.expect_response("**/api/runs/cup"):  # the page knows of a run that goes on
            page.goto(f"{address}/runs/cup/matches/r1-basic-0001")
        expect(page.get_by_role("slider", name="Position in the match")).to_be_visible()
        expect(page.get_by_text("The run is finished.")).to_have_count(0)
        journal.note(Fact(RUN, {"state": "finished", "ended": INFO.ended}))  # as a run does it
        page.get_by_role("link", name="The run is finished. Best score: ").click()
        expect(heading(page)).to_have_text(INFO.title)


def test_back_leads_to_the_place_in_the_list(page: Page, address: str):
    page.goto(f"{address}/runs/cup")
    page.goto(f"{address}/runs/many/matches?rules=basic")
    expect(rows(page).first).to_be_visible()
    page.evaluate("scrollTo(0, 9000)")
    expect(rows(page).first).to_have_attribute("data-row", re.compile("^1[0-9]{2}$"))
    page.evaluate("history.replaceState({ scrolled: scrollY }, '')")  # as a link does
    page.goto(f"{address}/runs/cup")
    page.go_back()
    expect(page).to_have_url(re.compile("rules=basic"))
    expect(rows(page).first).to_have_attribute("data-row", re.compile("^1[0-9]{2}$"))


def test_no_page_at_an_address(missing_page: Page, address: str):
    page = missing_page
    page.goto(f"{address}/runs/cup/nothing/here/at/all")
    expect(heading(page)).to_have_text("There is no page at this address.")
    page.get_by_role("link", name="To the runs").click()
    expect(heading(page)).to_have_text("Runs")


def test_nothing_scrolls_sideways(page: Page, address: str):
    for path in ("/", "/runs/wide", "/runs/many/matches?entry=dan", "/runs/hostile"):
        page.goto(address + path)
        expect(heading(page)).to_be_visible()
        page.wait_for_load_state("networkidle")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            expect_no_scrolling_sideways(page)


@pytest.mark.parametrize("path", ["/", "/runs/cup", "/runs/cup/matches?entry=dan"])
def test_pages_are_accessible(page: Page, address: str, path: str):
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(address + path)
    expect(heading(page)).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert violations(page) == []
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert violations(page, rules=("color-contrast",)) == []
