"""What a match was decided by, on its page: curve, marks, sentences and sums."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from asara_search.analysis import BUDGETS, Budget
from asara_server.replay.analysis import analyse
from asara_server.replay.analysis_file import Analysis, Value, analysis_bytes
from asara_server.replay.analysis_page import page_analysis
from asara_server.replay.file import read_replay
from asara_server.replay.match_page import match_page, read_page_files
from asara_server.replay.replay_view import OPEN, replay_view, seat_viewer
from tests.web.chromium import MATCHES, expect_no_scrolling_sideways, opened_page, violations, visit
from tests.web.web_process import asara_web

REPLAY: Final = MATCHES / "basic-2.asara"
BLUNDER: Final = Value(mean=0.4, error=0.05, worlds=9)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    """An analysis in which one decision of seat 1 is a blunder and year 3 lucky for seat 0."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BUDGETS, "quick", Budget(2, 2, 1, 1, 1, 1))
        found = analyse(REPLAY.read_bytes(), "quick", lambda: None)
    decisions = [one.model_copy(update={"label": ""}) for one in found.decisions]
    place, marked = next(
        (place, one)
        for place, one in enumerate(decisions)
        if one.seat == 1 and one.year == 2 and one.kind == "SPACE" and not one.forced
    )
    better = next(one.action for one in marked.candidates if one.action != marked.chosen)
    changes = {"best": better, "loss": BLUNDER, "label": "blunder"}
    decisions[place] = marked.model_copy(update=changes)
    draws = [one.model_copy(update={"stroke": None}) for one in found.draws]
    lucky = {"stroke": 0, "gained": (0.07, -0.07), "error": (0.01, 0.01)}
    draws[2] = draws[2].model_copy(update=lucky)
    return found.model_copy(update={"decisions": tuple(decisions), "draws": tuple(draws)})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, analysis: Analysis) -> Iterator[str]:
    """The address of a match with an analysis; `other` has one about another replay."""
    folder = tmp_path_factory.mktemp("runs") / "samples"
    folder.mkdir()
    shutil.copy(REPLAY, folder / "basic-2.asara")
    shutil.copy(REPLAY.with_name("pro-gifts-2.asara"), folder / "other.asara")
    for name in ("basic-2", "other"):
        (folder / f"{name}.analysis.json").write_bytes(analysis_bytes(analysis))
    with asara_web(folder.parent) as address:
        yield f"{address}/runs/samples/matches"


def curve(page: Page, lines: int = 2) -> None:
    expect(page.locator(".curve .line:not([d=''])")).to_have_count(lines)


def test_marks_lead_to_a_sentence_and_to_the_better_action(page: Page, site: str) -> None:
    visit(page, f"{site}/basic-2?viewer=open")
    curve(page)
    panel = page.get_by_role("complementary")
    expect(panel).not_to_contain_text("blunder")
    page.keyboard.press("m")
    expect(panel).to_contain_text(re.compile(r"random.*: blunder\. Better: dispatch .*, \+0\.40"))
    expect(page.locator("[data-better]")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"#seat-1-decision-\d+$"))
    page.keyboard.press("m")
    expect(page.get_by_role("status").filter(has_text="There is no further one")).to_be_visible()
    page.keyboard.press("l")
    expect(panel).to_contain_text(re.compile("Good luck for .*greedy.*: \\+0\\.07"))
    expect(page.locator("[data-better]")).to_have_count(0)
    page.locator(".flag.blunder").click()
    expect(panel).to_contain_text("blunder. Better:")
    assert violations(page) == []


def test_the_last_screen_has_the_sums_and_what_decided(page: Page, site: str) -> None:
    visit(page, f"{site}/basic-2?viewer=open")
    curve(page)
    page.keyboard.press("End")
    expect(page.get_by_text(re.compile("^0 certain mistakes$"))).to_have_count(1)
    expect(page.get_by_text(re.compile("^1 certain mistake: -0.40"))).to_have_count(1)
    expect(page.get_by_text(re.compile("^luck: "))).to_have_count(2)
    decisive = page.get_by_role("region", name="What decided the match")
    expect(decisive.get_by_role("listitem")).to_have_count(2)
    expect_no_scrolling_sideways(page)
    decisive.get_by_role("link", name="blunder").click()
    expect(page).to_have_url(re.compile(r"#seat-1-decision-\d+$"))
    expect(page.get_by_role("complementary")).to_contain_text("blunder. Better:")


def test_a_view_shows_no_more_than_its_viewer_may_know(page: Page, site: str) -> None:
    visit(page, f"{site}/basic-2?viewer=everybody")
    curve(page)
    page.keyboard.press("m")
    panel = page.get_by_role("complementary")
    expect(panel).to_contain_text("blunder, -0.40")
    expect(panel).not_to_contain_text("Better")
    page.get_by_role("button", name="Show it in").click()
    expect(panel).to_contain_text("blunder. Better:")
    curve(page, 1)
    expect(page.locator(".flag.luck")).to_have_count(0)
    page.get_by_label("View").select_option("seat-0")
    expect(page.locator(".flag")).to_have_count(0)


def test_without_spoilers_it_appears_at_the_end(page: Page, site: str) -> None:
    visit(page, f"{site}/basic-2?viewer=open")
    curve(page)
    page.get_by_role("button", name="Without spoilers").click()
    expect(page.locator(".curve")).to_have_count(0)
    page.keyboard.press("m")
    expect(page.get_by_role("slider")).to_have_value("0")
    for _ in range(5):
        expect(page.locator(".curve")).to_have_count(0)
        page.keyboard.press("a")
    curve(page)
    expect(page.get_by_role("heading", name="Result")).to_be_visible()


def test_an_analysis_of_another_replay_is_ignored_with_a_sentence(page: Page, site: str) -> None:
    visit(page, f"{site}/other?viewer=open")
    expect(page.get_by_text("The analysis of this match is ignored:")).to_be_visible()
    expect(page.get_by_text("this analysis is about another replay")).to_be_visible()
    expect(page.locator(".curve")).to_have_count(0)


@pytest.mark.parametrize("seat", [None, 1])
def test_a_file_contains_it(
    browser: Browser, tmp_path: Path, analysis: Analysis, seat: int | None
) -> None:
    seen = replay_view(read_replay(REPLAY), OPEN if seat is None else seat_viewer(seat))
    shown = page_analysis(analysis, seat)
    (tmp_path / "m.html").write_bytes(match_page(seen, read_page_files(), analysis=shown))
    with opened_page(browser, width=360) as page:
        visit(page, (tmp_path / "m.html").as_uri())
        curve(page, 2 if seat is None else 1)
        page.keyboard.press("m")
        expect(page.locator(".now")).to_contain_text("blunder. Better:")
        expect_no_scrolling_sideways(page)


def test_damaged_data_in_a_file_are_ignored_with_a_sentence(
    browser: Browser, tmp_path: Path, analysis: Analysis
) -> None:
    shown = page_analysis(analysis)
    shown["marks"][0]["better"] = "AA=="
    seen = replay_view(read_replay(REPLAY), OPEN)
    (tmp_path / "m.html").write_bytes(match_page(seen, read_page_files(), analysis=shown))
    with opened_page(browser) as page:
        visit(page, (tmp_path / "m.html").as_uri())
        expect(page.get_by_text("The analysis of this match is ignored:")).to_be_visible()
        expect(page.locator(".curve")).to_have_count(0)
