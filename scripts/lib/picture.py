"""Takes a picture of a page: `picture.py PAGE PICTURE [HEADING]`.

With a heading, the picture shows the section with this heading in light mode. Without a heading, it
shows the page in dark mode. A `.webp` picture is smaller than a `.png` picture.
"""

import base64
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright


def main(page_file: str, picture: str, heading: str = "") -> None:
    """Take the picture; the page is a path that may end with a fragment."""
    name, _, fragment = page_file.partition("#")
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("picture.py: there is no chromium on PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": 1000 if heading else 1440, "height": 900},
            color_scheme="light" if heading else "dark",
            locale="en-GB",
            reduced_motion="reduce",
        )
        page.goto(f"{Path(name).resolve().as_uri()}#{fragment}")
        if heading:
            section = page.get_by_role("heading", name=heading).locator(
                "xpath=ancestor::section[1]"
            )
            section.screenshot(path=picture)
        else:
            page.get_by_role("button", name="Play").first.wait_for()
            page.evaluate("document.fonts.ready")
            _write_whole(page, Path(picture))
        browser.close()


def _write_whole(page: Page, picture: Path) -> None:
    """Write a picture of the page. Playwright's own function does not support WebP."""
    kind = picture.suffix.removeprefix(".")
    options = {"format": kind, "quality": 80} if kind == "webp" else {"format": kind}
    taken = page.context.new_cdp_session(page).send("Page.captureScreenshot", options)
    picture.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
