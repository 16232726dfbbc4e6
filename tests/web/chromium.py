"""Chromium in tests: how it is started, and pages whose faults fail the test."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser") or ""
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
_AXE: Final = Path(__file__).parents[2] / "clients/web/node_modules/axe-core/axe.min.js"
_BROKEN: Final = ("Failed to load resource", "WebSocket connection to")
"""How Chromium logs an answer with status 4xx, or a connection that broke."""


@contextmanager
def opened_page(
    browser: Browser, *, broken: bool = False, width: int = 1280, **options: Any
) -> Iterator[Page]:
    """Open a page in a fresh profile; a script that throws or logs an error fails the test.

    So does what the content security policy refuses, which Chromium logs as an error. With
    `broken`, answers and connections may fail. Further options are those of `new_context`.
    """
    options = {"locale": "en-GB", "viewport": {"width": width, "height": 800}, **options}
    context = browser.new_context(**options)
    page = context.new_page()
    faults: list[str] = []

    def note(line: ConsoleMessage) -> None:
        if line.type == "error" and not (broken and line.text.startswith(_BROKEN)):
            faults.append(line.text)

    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", note)
    yield page
    context.close()
    assert not faults, faults


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
