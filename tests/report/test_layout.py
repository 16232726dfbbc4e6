"""The page as a browser lays it out: on a phone, 390 px wide, and on a screen of 1,280 px."""

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

from asara_server.report.page import render
from tests.report.runs import write_run
from tests.report.test_page import report_of
from tests.tournament.samples import match, seat

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
LONG_NAME = "minimax-with-a-table-of-transpositions-3"
MEASURE = """
const pages = [...document.querySelectorAll('iframe')].map(frame => {
  const page = frame.contentDocument;
  const box = found => { const {left, right, top, bottom} = found.getBoundingClientRect();
                         return {left, right, top, bottom}; };
  const all = found => [...page.querySelectorAll(found)];
  const cut = found => found.scrollWidth > found.clientWidth + 1
                       || found.scrollHeight > found.clientHeight + 2;
  return {
    width: page.documentElement.scrollWidth,
    tables: all('.scroll').map(found => [found.clientWidth, found.scrollWidth]),
    names: all('#standings .entry bdi').filter(cut).map(found => found.textContent),
    picture: box(all('#standings td.picture svg').find(found => found.checkVisibility())),
    rows: all('#standings tbody tr').map(box),
    named: all('.cross tbody th').map(found => [found.textContent, box(found.firstElementChild)]),
  };
});
document.body.innerText = 'MEASURED ' + JSON.stringify(pages) + ' END';
"""


def measured(folder: Path, html: str, *widths: int) -> list[dict[str, Any]]:
    """What a browser made of the page at these widths; all its folds are open."""
    opened = html.replace("<details>", "<details open>")
    frames = "".join(
        f'<iframe width={width} height=844 style="border:0" srcdoc="{escape(opened)}"></iframe>'
        for width in widths
    )
    path = folder / "frames.html"
    script = f"addEventListener('load', () => {{{MEASURE}}})"
    path.write_text(f"<!doctype html><body>{frames}<script>{script}</script>")
    options = ("--headless", "--no-sandbox", "--hide-scrollbars", "--dump-dom")
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [str(BROWSER), *options, profile, path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.search("MEASURED (.*) END", unescape(done.stdout))
    assert found, done.stderr
    pages: list[dict[str, Any]] = json.loads(found[1])
    return pages


@pytest.mark.long
@needs_browser
def test_nothing_is_cut_off_and_the_first_screen_of_a_phone_shows_the_intervals(tmp_path):
    names = [LONG_NAME, "second", *(f"entry-{number:02}" for number in range(38))]
    results = [
        match(f"m{turn}{place:03}", seat(names[place], 1), seat(names[(place + turn) % 40], 2))
        for turn in (1, 2, 3)
        for place in range(40)
    ]
    run = write_run(
        tmp_path / "run",
        results,
        entries=tuple(names),
        suspended={LONG_NAME: "too many forfeits", "entry-01": "too many forfeits"},
        out={"second": "could not be built"},
    )
    phone, screen = measured(tmp_path, render(report_of(run)), 390, 1280)
    assert (phone["width"], screen["width"]) == (390, 1280)
    assert all(inside <= width for width, inside in screen["tables"])
    assert screen["names"] == []
    for page in (phone, screen):
        picture, first = page["picture"], page["rows"][0]
        assert picture["right"] < page["width"]
        assert picture["top"] < 700
        assert abs(picture["top"] - first["top"]) < 2
        twentieth = page["rows"][19]
        assert abs(picture["bottom"] - twentieth["bottom"]) < 3
        assert [name for name, _ in page["named"]] == [
            line.entry for line in report_of(run).standings.overall
        ]
        for _, box in page["named"]:
            assert box["right"] - box["left"] > 20
            assert box["bottom"] - box["top"] >= 9
