"""The files of the built page, as they are sent."""

import gzip
from pathlib import Path

import pytest
from starlette.requests import Request

from asara_server.web.page_files import PageFiles

SCRIPT = b"console.log('page');" * 100
BROTLI = b"as the build wrote it"


@pytest.fixture
def files(tmp_path: Path) -> PageFiles:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets/page-12345678.js").write_bytes(SCRIPT)
    (tmp_path / "assets/page-12345678.js.br").write_bytes(BROTLI)
    (tmp_path / "assets/alone-12345678.js").write_bytes(SCRIPT)
    (tmp_path / "index.html").write_text("the page")
    return PageFiles(tmp_path)


def asked(path: str, encodings: str) -> Request:
    headers = [(b"accept-encoding", encodings.encode())]
    return Request({"type": "http", "method": "GET", "path": path, "headers": headers})


@pytest.mark.parametrize(
    ("encodings", "coding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip, br;q=0", "gzip"),
        ("gzip", "gzip"),
        ("*", "gzip"),
        ("", None),
        ("identity", None),
    ],
)
async def test_a_script_is_sent_as_small_as_the_browser_can_read_it(
    files: PageFiles, encodings: str, coding: str | None
) -> None:
    answer = await files.file(asked("/assets/page-12345678.js", encodings))
    assert answer.headers.get("content-encoding") == coding
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "immutable" in answer.headers["cache-control"]
    content = gzip.decompress(bytes(answer.body)) if coding == "gzip" else bytes(answer.body)
    assert content == (BROTLI if coding == "br" else SCRIPT)


async def test_a_script_without_a_compressed_copy_is_compressed(files: PageFiles) -> None:
    answer = await files.file(asked("/assets/alone-12345678.js", "br, gzip"))
    assert answer.headers["content-encoding"] == "gzip"


async def test_a_compressed_copy_has_no_address_of_its_own(files: PageFiles) -> None:
    answer = await files.file(asked("/assets/page-12345678.js.br", "br"))
    assert answer.status_code == 404
