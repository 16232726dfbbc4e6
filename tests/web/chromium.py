"""Chromium in tests: how it is started, and pages whose faults fail the test."""

import gzip
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, ConsoleMessage, FrameLocator, Locator, Page, expect

from asara.v1.replay_view_pb2 import ReplayView
from tests.events import EVENT_S, wait_until

# The headless shell draws without a desktop; the browser itself may stop drawing on a busy machine,
# and then an action waits without end for the frame in which it could be done.
_PROGRAMS: Final = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM: Final = next(filter(None, map(shutil.which, _PROGRAMS)), "")
# Without these, Chromium asks for hosts of its own, and as root it does not start.
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=LocalNetworkAccessChecks",  # frames of this machine in pages of tests
)
LIMIT_MS: Final = EVENT_S * 1_000
"""How long a page may take for anything: actions and expectations, on a machine that is busy."""
BROKEN: Final = re.compile("Failed to load resource|WebSocket connection to")
"""How Chromium logs an answer with status 4xx, or a connection that broke."""
MATCHES: Final = Path(__file__).parents[1] / "vectors/replay_views"
_AXE: Final = Path(__file__).parents[2] / "clients/web/node_modules/axe-core/axe.min.js"
expect.set_options(timeout=LIMIT_MS)


@contextmanager
def opened_page(
    browser: Browser, *, errors: re.Pattern[str] | None = None, width: int = 1280, **options: Any
) -> Iterator[Page]:
    """Open a page in a fresh profile; a script that throws or logs an error fails the test.

    So do answers and connections that fail, and what the content security policy refuses, unless
    `errors` is in the line. The server must outlive the page, which asks again and again. `options`
    are passed on to `new_context`.
    """
    options = {"locale": "en-GB", "viewport": {"width": width, "height": 800}, **options}
    faults: list[str] = []

    def note(line: ConsoleMessage) -> None:
        if line.type == "error" and not (errors and errors.search(line.text)):
            faults.append(line.text)

    with browser.new_context(**options) as context:
        context.set_default_timeout(LIMIT_MS)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", note)
        yield page
    assert not faults, faults


def open_view(match: str) -> ReplayView:
    """Return the open view of a sample match."""
    return ReplayView.FromString(gzip.decompress((MATCHES / f"{match}.view.gz").read_bytes()))


def slider(page: Page | FrameLocator) -> Locator:
    return page.get_by_role("slider", name="Position in the match")


def visit(page: Page, address: str) -> None:
    """Open a match, and wait until it can be used: it has its title when it listens to keys."""
    page.goto(address)
    expect(slider(page)).to_be_visible()
    expect(page).to_have_title(re.compile("– ASARA$"))


def expect_no_scrolling_sideways(page: Page) -> None:
    wait_until(
        "nothing scrolls sideways",
        lambda: page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
    )


def expect_whole_in_sight(part: Locator) -> None:
    expect(part).to_be_in_viewport(ratio=1)


def violations(page: Page, part: str = "html", rules: tuple[str, ...] = ()) -> list[str]:
    """Return the violations of `rules` (default: all) that axe-core finds in a part of a page.

    The test is skipped without axe-core, which `scripts/test --browser` installs.
    """
    if not _AXE.is_file():
        pytest.skip("axe-core is not installed: run npm ci in clients/web")
    page.evaluate(_AXE.read_text())
    options = {"runOnly": list(rules)} if rules else {}
    found = page.evaluate("([part, options]) => axe.run(part, options)", [part, options])
    return [
        f"{one['id']}: {[node['html'][:200] for node in one['nodes'][:3]]}"
        for one in found["violations"]
    ]
