import re
import zlib
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from asara.v1.replay_view_pb2 import ReplayView
from asara_server import bundled
from asara_server.replay.match_page import PageFiles, match_page, read_page_files
from asara_server.replay.replay_view import OPEN, replay_view, seat_viewer
from tests.match.playouts import EVERYTHING, random_replay
from tests.vectors import viewed_matches

REPLAY = random_replay(EVERYTHING, 2, seed=3)
SEEN = replay_view(REPLAY, OPEN)
HOSTILE = ("</script><script>alert(1)</script>", "\u202egnp.exe\u2066<!--<script>\0\"'&")
FILES = PageFiles("console.log('page')", "main{color:red}")


class Elements(HTMLParser):
    """The elements of a page, each with its attributes and the text up to the next tag."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.found:
            tag, attributes, text = self.found[-1]
            self.found[-1] = (tag, attributes, text + data)

    def of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, text) for found, attributes, text in self.found if found == tag]

    def block(self, name: str) -> bytes:
        (text,) = (text for attributes, text in self.of("script") if attributes.get("id") == name)
        return b64decode(text.strip(), validate=True)


def named(*entries: str) -> ReplayView:
    header = replace(REPLAY.header, entries=entries, match_id="<b>\u202e&amp;")
    return replay_view(replace(REPLAY, header=header, digests=()), OPEN)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a built page, whose files are not there yet."""
    (tmp_path / "single").mkdir()
    monkeypatch.setattr(bundled, "page", lambda: tmp_path)
    return tmp_path / "single"


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_a_page_loads_nothing_and_permits_its_own_script_and_style_alone() -> None:
    content = match_page(SEEN, FILES)
    page = Elements(content)
    policy = page.of("meta")[1][0]["content"]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == digest(FILES.style)
    *_, (attributes, loader) = page.of("script")
    assert attributes == {}
    assert rules["script-src"].split() == [digest(loader.strip()), digest(FILES.script)]
    assert zlib.decompress(page.block("script")).decode() == FILES.script
    assert page.of("style") == [({}, f"{FILES.style}\n")]
    assert "connect-src" not in rules
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    for _, attributes, _ in page.found:
        assert not {"src", "href", "action", "onload", "onerror", "style"} & set(attributes)
    assert not re.search(rb"https?://|url[(]", content)


@pytest.mark.sources_only
def test_names_do_not_become_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asara_server.journal.resimulate._check_digests", lambda *_: None)
    page = match_page(named(*HOSTILE), FILES)
    elements = Elements(page)
    assert [tag for tag, _, _ in elements.found] == [
        *("html", "head", "meta", "meta", "style", "meta", "meta", "meta"),
        *("title", "body", "div", "noscript", "script", "script", "script"),
    ]
    assert "\u202e" not in page.decode()
    assert b"alert" not in page.replace(b"&lt;script&gt;alert(1)&lt;/script&gt;", b"")
    seen = ReplayView.FromString(zlib.decompress(elements.block("replay-view")))
    assert tuple(seen.entries) == HOSTILE


def test_script_and_style_cannot_end_their_elements(built: Path) -> None:
    script = 'const a = "</script>" + "</SCRIPT " + "<!--" + `</script>`;\r\nconst b = 1;'
    (built / "page.js").write_text(script, newline="")
    (built / "page.css").write_text('a::after{content:"</style>"}')
    page = Elements(match_page(SEEN, read_page_files()))
    assert zlib.decompress(page.block("script")).decode() == script
    assert page.of("style")[0][1].strip() == 'a::after{content:"<\\/style>"}'
    assert len(page.of("script")) == 3


def test_pages_in_one_folder_share_script_and_style() -> None:
    page = match_page(SEEN, None, b"replay")
    elements = Elements(page)
    assert elements.of("script")[-1][0] == {"src": "page.js"}
    assert elements.of("link")[0][0] == {"rel": "stylesheet", "href": "page.css"}
    assert len(page) < 30_000


def test_a_match_of_four_by_the_richest_rules_takes_little_room() -> None:
    path = viewed_matches.FOLDER / f"{viewed_matches.RICHEST}.asara"
    replay = dict(viewed_matches.replays())[viewed_matches.RICHEST]
    data = match_page(replay_view(replay, OPEN), PageFiles("", ""), path.read_bytes())
    assert len(data) < 50_000
    assert len(match_page(replay_view(replay, seat_viewer(0)), PageFiles("", ""))) < 20_000
    built = bundled.page() / "single"
    if (built / "page.js").is_file():
        files = read_page_files()
        assert len(match_page(replay_view(replay, OPEN), files, path.read_bytes())) < 300_000
