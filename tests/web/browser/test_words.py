"""The page in six languages, as a reader meets them."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from asara.v1.replay_view_pb2 import ReplayView
from asara_server.replay.match_page import PageLanguage, match_page, read_page_files
from tests.web.chromium import expect_no_scrolling_sideways, opened_page

FOLDER = Path(__file__).parents[2] / "vectors" / "replay_views"
HOSTILE = "<marquee>\u202eevil\u2069</marquee>"
PURCHASE = {
    "de": "kauft eine braune Basis mit Gold für 3 Asari.",
    "en": "buys a brown base with gold for 3.",
    "es": "compra una base marrón con adorno dorado por 3 Asari.",
    "fr": "achète une base marron ornée d’or pour 3 asaris.",  # noqa: RUF001
    "it": "compra una base marrone con fregio d’oro per 3 Asari.",  # noqa: RUF001
    "nl": "koopt een bruin basiselement met goud voor 3 Asari.",
}
"""What the second seat does at moment 6."""


def _write(path: Path, language: PageLanguage | None = None) -> str:
    seen = ReplayView.FromString(gzip.decompress((FOLDER / "basic-2.view.gz").read_bytes()))
    seen.entries[1] = HOSTILE
    path.write_bytes(match_page(seen, read_page_files(), language=language))
    return path.as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _write(tmp_path_factory.mktemp("words") / "match.html")


@contextmanager
def _opened(browser: Browser, address: str, locale: str, width: int = 1280) -> Iterator[Page]:
    with opened_page(browser, locale=locale, width=width) as page:
        page.goto(f"{address}#moment-6")
        yield page


def _expect_language(page: Page, language: str) -> None:
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.get_by_text(PURCHASE[language]).first).to_be_attached()


@pytest.mark.parametrize("language", PURCHASE)
def test_the_browsers_language_decides_and_every_text_fits_a_phone(
    browser: Browser, address: str, language: str
) -> None:
    with _opened(browser, address, f"{language}-CH", width=360) as page:
        _expect_language(page, language)
        expect_no_scrolling_sideways(page)


def test_a_switch_overrules_the_browser_and_is_remembered(browser: Browser, address: str) -> None:
    with _opened(browser, address, "pt-BR") as page:
        _expect_language(page, "en")
        page.get_by_label("Language").select_option("it")
        _expect_language(page, "it")
        page.reload()
        _expect_language(page, "it")


ROOM_OF_THE_LANGUAGE = """select => {
    const style = getComputedStyle(select);
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.font = `${style.fontSize} ${style.fontFamily}`;
    const width = (text) => canvas.measureText(text).width;
    const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const [before, letters] = /^(\\S+)\\s+/.exec(select.selectedOptions[0].text);
    return [width(letters), select.clientWidth - padding, width(before)];
}"""
"""Width of the two letters, room in the closed select, and where the language's name begins."""
ARROW = 20


def test_the_closed_choice_shows_the_letters_of_the_language_alone(
    browser: Browser, address: str
) -> None:
    with _opened(browser, address, "en") as page:
        choice = page.locator("select.language")
        for language in PURCHASE:
            choice.select_option(language)
            letters, room, name = choice.evaluate(ROOM_OF_THE_LANGUAGE)
            assert letters <= room - ARROW, language
            assert room <= name, language


def test_the_language_of_a_file_overrules_the_browser(browser: Browser, tmp_path: Path) -> None:
    with _opened(browser, _write(tmp_path / "match.html", PageLanguage("nl")), "de") as page:
        _expect_language(page, "nl")
