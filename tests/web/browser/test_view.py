"""Pages that `asara replay page` and `asara report --pages` write, in a browser."""

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.command import asara
from tests.report.runs import run_with_replays
from tests.vectors import viewed_matches
from tests.web.chromium import REFUSED, opened_page

RICHEST = viewed_matches.FOLDER / f"{viewed_matches.RICHEST}.asara"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address at which tmp_path is served, as by any web server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def requests_of(page: Page) -> list[str]:
    """The addresses that the page asks for from now on; not those of data in the page itself."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if one.url[:5] != "data:" else None)
    return asked


def written(replay: Path, out: Path, *options: str) -> Path:
    done = asara("replay", "page", replay, "--out", out, *options)
    assert done.returncode == 0, done.stderr
    return out


def test_the_policy_stops_every_other_script_and_request(browser: Browser, tmp_path: Path) -> None:
    file = written(RICHEST, tmp_path / "match.html")
    with opened_page(browser, errors=REFUSED) as page:
        page.goto(file.as_uri())
        ran = page.evaluate(
            """async () => {
                const element = document.createElement("script");
                element.textContent = "globalThis.ran = true";
                document.body.append(element);
                const fetched = await fetch("data:text/plain,x").then(() => true, () => false);
                return [globalThis.ran === true, fetched];
            }"""
        )
    assert ran == [False, False]


@pytest.mark.parametrize("served", [False, True])
def test_a_report_leads_to_the_page_of_a_match(
    page: Page, tmp_path: Path, site: str, served: bool
) -> None:
    run, _ = run_with_replays(tmp_path / "run", 2)
    assert asara("report", run, "--pages").returncode == 0
    page.goto(f"{site}/run/report.html" if served else (run / "report.html").as_uri())
    page.locator("summary").click()
    page.get_by_role("link").filter(has_text="r1-basic-0002").click()
    expect(page).to_have_url(re.compile(r"/run/pages/r1-basic-0002\.html\b"))
    page.get_by_text("bot 1").first.wait_for()
