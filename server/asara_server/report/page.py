"""A report as one HTML page: the page that a server would send, with the run inside.

Without scripts, the page shows the same tables as plain HTML. It does not depend on when or where
it was written.
"""

import json
import zlib
from collections.abc import Mapping
from html import escape
from typing import Any, Final
from urllib.parse import quote

from asara_server.replay.match_page import PageFiles, data_block, document
from asara_server.report.model import Report
from asara_server.report.run_json import match_row, run_json, standings_json
from asara_server.report.tables import details_json, html_tables
from asara_server.report.times import SUFFIX
from asara_server.text import plain
from asara_server.tournament.run.status import RunStatus

MOST_MATCHES: Final = 5_000
"""Maximum number of matches listed on the page; the CSV file has all of them."""

_PROGRESS: Final = ("scheduled", "over", "void", "blocks", "started", "ended", "elapsed_s")
"""Progress values that depend neither on the clock nor on which bots are connected."""


def report_page(
    report: Report, status: RunStatus, pages: Mapping[str, str], files: PageFiles
) -> bytes:
    """Return the page; `pages` are the addresses of match pages, by match name."""
    links = _links(report, pages)
    title = plain(report.standings.title)
    data = json.dumps(_data(report, status, links), separators=(",", ":"), allow_nan=False)
    tables = html_tables(report, links)
    body = f'<div class="frame"><main><h1><bdi>{escape(title)}</bdi></h1>\n{tables}</main></div>'
    return document(title, body, data_block("run", zlib.compress(data.encode(), 9)), files)


def _links(report: Report, pages: Mapping[str, str]) -> Mapping[str, str]:
    """Return the addresses that may be opened: until the run is over, only those of match pages."""
    if pages or not report.over:
        return pages
    return {name: f"replays/{quote(name + SUFFIX)}" for name in report.files.published}


def _data(report: Report, status: RunStatus, links: Mapping[str, str]) -> dict[str, Any]:
    """Return the data that the page shows, in the form in which a server sends it."""
    run = run_json(status, 0.0, report.publisher)
    progress = {name: run["progress"][name] for name in _PROGRESS}
    return {
        "run": {
            "name": "",
            "kind": "run",
            "rules": sorted({plain(result.rule_sets) for result in report.results}),
            "seats": sorted({len(result.seats) for result in report.results}),
            "standings": standings_json(report.standings),
            "running": [],
            "unreadable": 0,
            **run,
            "progress": progress,
        },
        "tables": details_json(report),
        "matches": [
            {**match_row(result, links), "href": links.get(result.played_as)}
            for result in report.results[:MOST_MATCHES]
        ],
        "total": len(report.results),
    }
