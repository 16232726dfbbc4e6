"""A match as an HTML page that needs no server and no network.

The page contains the match as its viewer may see it. If the viewer may see everything, it also
contains the signed replay, so that the browser can check the chain and the signature. The script
and the style are either inside the page, or in files that all pages in the same folder share. A
content security policy permits these two and nothing else.

Names in the page are untrusted text. They are escaped in the title; the data are base64, which
cannot end an element.
"""

import html
import json
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from asara.v1.replay_view_pb2 import ReplayView
from asara_codec.encode import serialize
from asara_server import bundled
from asara_server.journal.replay import ReplayError
from asara_server.text import plain

SCRIPT: Final = "page.js"
STYLE: Final = "page.css"

_POLICY: Final = (
    "default-src 'none'; script-src {script}; style-src {style}; font-src {font}data:; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)
_LOADER: Final = (
    '(async()=>{const data=Uint8Array.from(atob(document.getElementById("script").textContent),'
    "c=>c.charCodeAt(0)),stream=new Blob([data]).stream().pipeThrough(new DecompressionStream("
    '"deflate")),script=document.createElement("script");script.textContent=await new Response('
    "stream).text();document.body.append(script)})()"
)
"""Expands the script and executes it; the policy permits this loader by its hash."""
_LONGEST_NAME: Final = 60
"""Maximum characters of a name in the title."""


class PageLanguage(StrEnum):
    """A language of the page, by its ISO 639-1 code."""

    DE = "de"
    EN = "en"
    ES = "es"
    FR = "fr"
    IT = "it"
    NL = "nl"


class NoPageError(ReplayError):
    """Raised when the built page is missing."""

    status = 1


@dataclass(frozen=True)
class PageFiles:
    """The script and the style of the built page."""

    script: str
    style: str

    @cached_property
    def head(self) -> str:
        """The policy and the style, to be placed inside the page."""
        scripts = f"{_hash(_LOADER)} {_hash(self.script)}"
        policy = _POLICY.format(script=scripts, style=_hash(self._inner_style), font="")
        return _policy_element(policy) + f"<style>{self._inner_style}</style>\n"

    @cached_property
    def foot(self) -> str:
        """The script, to be placed inside the page; compressed, because it is most of the file."""
        script = zlib.compress(self.script.encode(), 9)
        return data_block("script", script) + f"<script>{_LOADER}</script>\n"

    @cached_property
    def _inner_style(self) -> str:
        """The style, changed so that it cannot end its element; its meaning is the same."""
        style = self.style.replace("\r\n", "\n").strip()
        return re.sub("</(?=style)", r"<\\/", style, flags=re.IGNORECASE)


def _policy_element(policy: str) -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'


LINKED_HEAD: Final = (
    _policy_element(_POLICY.format(script="'self' file:", style="'self' file:", font=""))
    + f'<link rel="stylesheet" href="{STYLE}">\n'
)
"""The head of a page that is in the same folder as the files SCRIPT and STYLE. In some browsers,
`'self'` does not include neighbouring files when a page is opened from a disk."""
LINKED_FOOT: Final = f'<script src="{SCRIPT}"></script>\n'


def read_page_files() -> PageFiles:
    """Return the built script and style; raises NoPageError if they are missing."""
    folder = bundled.page() / "single"
    try:
        script, style = ((folder / name).read_bytes().decode() for name in (SCRIPT, STYLE))
    except OSError as error:
        remedy = "install the package again" if bundled.is_installed() else "run scripts/web"
        name = Path(error.filename or folder).name
        raise NoPageError(f"the page is not built ({name}: {error.strerror}); {remedy}") from None
    return PageFiles(script, style)


def document(
    title: str, body: str, data: str, files: PageFiles | None, language: PageLanguage | None = None
) -> bytes:
    """Return a page whose script reads `data`, made by `data_block`.

    `body` is shown until the script replaces it. Without `files`, the page links to script and
    style. Without `language`, the browser chooses the language.
    """
    attributes = "" if language is None else f' data-language="{language}"'
    return (
        "<!doctype html>\n"
        f'<html lang="{language or "en"}"{attributes}>\n'
        '<head>\n<meta charset="utf-8">\n'
        + (LINKED_HEAD if files is None else files.head)
        + '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{html.escape(title)}</title>\n"
        f'</head>\n<body>\n<div id="page">{body}</div>\n'
        + data
        + (LINKED_FOOT if files is None else files.foot)
        + "</body>\n</html>\n"
    ).encode()


def match_page(
    seen: ReplayView,
    files: PageFiles | None,
    replay: bytes | None = None,
    language: PageLanguage | None = None,
    analysis: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the page of a match; pass `replay`, the file's content, for an open view only.

    `analysis` is the part of an analysis that the viewer may see, made by `page_analysis`.
    """
    data = data_block("replay-view", zlib.compress(serialize(seen), 9))
    if replay is not None:
        data += data_block("replay", replay)
    if analysis is not None:
        data += data_block("analysis", zlib.compress(json.dumps(analysis).encode(), 9))
    body = "<noscript>This page shows a match of ASARA, and needs JavaScript.</noscript>"
    return document(_title(seen), body, data, files, language)


def _title(seen: ReplayView) -> str:
    names = " – ".join(plain(entry, _LONGEST_NAME) for entry in seen.entries)
    return f"{names}: {plain(seen.match_id, _LONGEST_NAME)}"


def data_block(name: str, data: bytes) -> str:
    """Return a block of data that a browser does not execute."""
    kind = f"application/x-asara-{name}"
    return f'<script type="{kind}" id="{name}">{b64encode(data).decode()}</script>\n'


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
