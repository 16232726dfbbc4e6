"""Takes a picture of a page: `picture.py PAGE PNG`."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright


def main(page_file: str, picture: str) -> None:
    """Take a picture of a page in dark mode; PAGE is a path with a fragment."""
    name, _, fragment = page_file.partition("#")
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("picture.py: there is no chromium on PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": 1440, "height": 900},
            color_scheme="dark",
            locale="en-GB",
            reduced_motion="reduce",
        )
        page.goto(f"{Path(name).resolve().as_uri()}#{fragment}")
        page.get_by_role("button", name="Play").first.wait_for()
        page.evaluate("document.fonts.ready")
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
