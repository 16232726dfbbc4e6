"""Which language the page speaks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from asara_server.replay.match_page import PageLanguage, match_page, read_page_files
from tests.web.chromium import open_view, opened_page

HOSTILE = "<marquee>\u202eevil\u2069</marquee>"
PURCHASE = {
    "de": "kauft eine braune Basis mit Gold für 3 Asari.",
    "en": "buys a brown base with gold for 3.",
    "it": "compra una base marrone con fregio d’oro per 3 Asari.",  # noqa: RUF001
    "nl": "koopt een bruin basiselement met goud voor 3 Asari.",
}
"""What the second seat does at moment 6."""


def _write(path: Path, language: PageLanguage | None = None) -> str:
    seen = open_view("basic-2")
    seen.entries[1] = HOSTILE
    path.write_bytes(match_page(seen, read_page_files(), language=language))
    return path.as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _write(tmp_path_factory.mktemp("words") / "match.html")


@contextmanager
def _opened(browser: Browser, address: str, locale: str) -> Iterator[Page]:
    with opened_page(browser, locale=locale) as page:
        page.goto(f"{address}#moment-6")
        yield page


def _expect_language(page: Page, language: str) -> None:
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.get_by_text(PURCHASE[language]).first).to_be_attached()


def test_the_browsers_language_decides(browser: Browser, address: str) -> None:
    with _opened(browser, address, "de-CH") as page:
        _expect_language(page, "de")


def test_a_switch_overrules_the_browser_and_is_remembered(browser: Browser, address: str) -> None:
    with _opened(browser, address, "pt-BR") as page:
        _expect_language(page, "en")
        page.get_by_label("Language").select_option("it")
        _expect_language(page, "it")
        page.reload()
        _expect_language(page, "it")


def test_the_language_of_a_file_overrules_the_browser(browser: Browser, tmp_path: Path) -> None:
    with _opened(browser, _write(tmp_path / "match.html", PageLanguage("nl")), "de") as page:
        _expect_language(page, "nl")
