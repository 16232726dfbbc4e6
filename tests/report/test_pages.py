"""`asara report --pages`: pages of the matches, beside the report that links to them."""

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path
from urllib.parse import unquote

import pytest

from asara.v1.replay_view_pb2 import VIEWER_KIND_OPEN, ReplayView
from asara_server import bundled
from asara_server.replay.signing import SigningKey
from asara_server.report import pages
from tests.cli.command import asara
from tests.match.playouts import replay_bytes
from tests.report.runs import KEY, Elements, data_of, played, run_with_replays, write_analysis
from tests.tournament.samples import RUNNING


@pytest.fixture(autouse=True)
def _built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page" / "single").mkdir(parents=True)
    (tmp_path / "page" / "single" / "page.js").write_text("console.log('</script>')")
    (tmp_path / "page" / "single" / "page.css").write_text("main{}")
    monkeypatch.setattr(bundled, "page", lambda: tmp_path / "page")


def links(report: Path) -> list[str]:
    """Addresses of the matches, which are the same with and without scripts."""
    page = report.read_text()
    found = [match["href"] for match in data_of(page)["matches"] if match["href"]]
    assert set(Elements(page).links) == set(found)
    return [unquote(link) for link in found]


def test_every_match_has_a_page_that_the_report_links_to(tmp_path: Path) -> None:
    run, replays = run_with_replays(tmp_path / "run", 3)
    done = asara("report", run, "--pages", status=0)
    assert done.stderr == f"Wrote the report to {run / 'report.html'}, with 3 pages of matches\n"
    names = {replay.header.match_id for replay in replays}
    assert set(links(run / "report.html")) == {f"pages/{name}.html" for name in names}
    assert {path.name for path in (run / "pages").iterdir()} == {
        *(f"{name}.html" for name in names),
        "page.js",
        "page.css",
    }
    assert (run / "pages" / "page.js").read_text() == "console.log('</script>')"
    for replay in replays:
        page = (run / "pages" / f"{replay.header.match_id}.html").read_text()
        blocks = dict(re.findall(r'id="([\w-]+)">([^<]*)<', page))
        seen = ReplayView.FromString(zlib.decompress(b64decode(blocks["replay-view"])))
        assert (seen.match_id, seen.viewer) == (replay.header.match_id, VIEWER_KIND_OPEN)
        file = run / "replays" / f"{replay.header.match_id}.asara"
        assert b64decode(blocks["replay"]) == file.read_bytes()


def test_the_pages_of_a_finished_run_contain_its_analyses(tmp_path: Path) -> None:
    run, _ = run_with_replays(tmp_path / "run", 2)
    replays = sorted((run / "replays").iterdir())
    first = write_analysis(run, "r1-basic-0001")
    own = tmp_path / "own.html"
    for options in ([], ["--seat", "1"]):
        asara("replay", "page", replays[0], "--out", own, *options, status=0)
        [block] = re.findall(r'id="analysis">([^<]*)<', own.read_text())
        analysis = json.loads(zlib.decompress(b64decode(block)))
        assert [one["luck"] is None for one in analysis["sums"]] == (
            [True] if options else [False, False]
        )
    first.with_name("r1-basic-0002.analysis.json").write_bytes(first.read_bytes())
    done = asara("report", run, "--pages")
    assert (
        "skipped: r1-basic-0002.analysis.json: this analysis is about another replay" in done.stderr
    )
    pages = sorted((run / "pages").glob("*.html"))
    assert ['id="analysis"' in page.read_text() for page in pages] == [True, False]


def test_of_a_run_that_goes_on_only_published_replays_have_a_page(tmp_path: Path) -> None:
    run, _ = run_with_replays(tmp_path / "run", 3, **RUNNING)
    (run / "replays" / "r1-basic-0002.asara").unlink()  # its block goes on
    (run / "analysis").mkdir()
    (run / "analysis" / "r1-basic-0001.analysis.json").write_text("not read yet")
    done = asara("report", run, "--pages")
    assert "2 pages of matches" in done.stderr
    assert links(run / "report.html") == ["pages/r1-basic-0001.html", "pages/r1-basic-0003.html"]
    assert "replays/" not in (run / "report.html").read_text()


def test_the_pages_lie_beside_a_report_elsewhere(tmp_path: Path) -> None:
    run, _ = run_with_replays(tmp_path / "run", 1)
    (tmp_path / "site").mkdir()
    asara("report", run, "--pages", "--out", tmp_path / "site" / "index.html", status=0)
    (link,) = links(tmp_path / "site" / "index.html")
    assert (tmp_path / "site" / link).is_file()
    assert not (run / "pages").exists()


@pytest.mark.long
def test_a_replay_that_is_damaged_or_forged_has_no_page(tmp_path: Path) -> None:
    run, _ = run_with_replays(tmp_path / "run", 4)
    asara("report", run, "--pages")
    damaged, forged, other = (run / "replays" / f"r1-basic-000{n}.asara" for n in (1, 2, 3))
    damaged.write_bytes(damaged.read_bytes()[:-20])
    forged.write_bytes(replay_bytes(played("r1-basic-0002", 1)[0], SigningKey.new()))
    other.write_bytes(replay_bytes(played("r1-basic-0001", 0)[0], KEY))
    done = asara("report", run, "--pages", status=0)
    assert "Traceback" not in done.stderr
    for name in (damaged.name, forged.name, other.name):
        assert done.stderr.count(f"skipped: {name}") == 1
    assert links(run / "report.html") == ["pages/r1-basic-0004.html"]
    assert not (run / "pages" / "r1-basic-0001.html").exists()


@pytest.mark.long
def test_many_pages_are_written_by_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = run_with_replays(tmp_path / "run", 2)
    asara("report", run, "--pages")
    alone = {path.name: path.read_bytes() for path in (run / "pages").iterdir()}
    monkeypatch.setattr(pages, "_FEW", 1)
    asara("report", run, "--pages")
    assert {path.name: path.read_bytes() for path in (run / "pages").iterdir()} == alone


def test_a_link_in_the_run_leads_nowhere_else(tmp_path: Path) -> None:
    run, _ = run_with_replays(tmp_path / "run", 1)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "precious").write_text("precious")
    (run / "pages").symlink_to(tmp_path / "elsewhere")
    assert "it is a link, not a folder" in refusal_of_report(run)
    (run / "pages").unlink()
    (run / "pages").mkdir()
    for name in ("r1-basic-0001.html", "page.js"):
        (run / "pages" / name).symlink_to(tmp_path / "precious")
    assert asara("report", run, "--pages").returncode == 0
    assert (tmp_path / "precious").read_text() == "precious"
    assert not list((tmp_path / "elsewhere").iterdir())


def refusal_of_report(run: Path) -> str:
    done = asara("report", run, "--pages", status=1)
    return done.stderr
