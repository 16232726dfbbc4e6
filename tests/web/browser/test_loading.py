"""What a page loads when it is opened, and what follows only if it is needed."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.chromium import BROKEN, MATCHES, opened_page, slider
from tests.web.web_process import asara_web

LANGUAGE: Final = re.compile(r"/assets/(de|en|es|fr|it|nl)-[\w-]+\.js$")
MOST_KB: Final = 132


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a four-player match of the richest rules."""
    folder = tmp_path_factory.mktemp("runs") / "samples"
    folder.mkdir()
    shutil.copy(MATCHES / "richest-4.asara", folder)
    with asara_web(folder.parent) as address:
        yield f"{address}/runs/samples/matches/richest-4"


@contextmanager
def opened(browser: Browser, locale: str = "en-GB") -> Iterator[Page]:
    with opened_page(browser, errors=BROKEN, locale=locale) as page:
        yield page


def languages(page: Page) -> list[str]:
    """Return a list to which the languages are added whose texts the page asks for."""
    asked: list[str] = []

    def note(request: Any) -> None:
        if found := LANGUAGE.search(request.url):
            asked.append(found[1])

    page.on("request", note)
    return asked


def test_the_first_load_of_a_match_is_small(browser: Browser, match: str) -> None:
    received: dict[str, float] = {}
    with opened(browser) as page:
        session = page.context.new_cdp_session(page)
        names: dict[str, str] = {}
        session.send("Network.enable")
        session.on(
            "Network.requestWillBeSent",
            lambda event: names.update({event["requestId"]: event["request"]["url"]}),
        )
        session.on(
            "Network.loadingFinished",
            lambda event: received.update({event["requestId"]: event["encodedDataLength"]}),
        )
        page.goto(match)
        expect(slider(page)).to_be_visible()
        page.wait_for_load_state("networkidle")
    sizes = {names[one].rpartition("/")[2]: size / 1e3 for one, size in received.items()}
    assert len(sizes) > 5
    assert sum(sizes.values()) < MOST_KB, sizes


def test_only_the_readers_language_is_loaded_and_a_switch_is_remembered(
    browser: Browser, match: str
) -> None:
    with opened(browser, "it-CH") as page:
        asked = languages(page)
        page.goto(match)
        expect(page.locator("html")).to_have_attribute("lang", "it")
        expect(page.get_by_role("slider")).to_be_visible()
        assert set(asked) == {"it"}
        page.locator("select.language").select_option("nl")
        expect(page.locator("html")).to_have_attribute("lang", "nl")
        assert set(asked) == {"it", "nl"}
        page.reload()
        expect(page.locator("html")).to_have_attribute("lang", "nl")


def test_a_page_without_texts_says_so_in_the_readers_language(browser: Browser, match: str) -> None:
    with opened(browser, "es") as page:
        page.route("**/assets/es-*", lambda route: route.abort())
        page.goto(match)
        expect(page.get_by_text("No se han podido cargar los textos.")).to_be_visible()


def test_the_check_of_the_signature_is_loaded_when_it_is_opened(
    browser: Browser, match: str
) -> None:
    with opened(browser) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{match}?viewer=open")
        expect(slider(page)).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert not [url for url in asked if "/verify-" in url]
        with page.expect_request(re.compile("/verify-")):
            page.get_by_text("Signature", exact=True).click()
