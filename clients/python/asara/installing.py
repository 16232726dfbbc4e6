"""Finds out how the package was installed."""

from __future__ import annotations

import json
import shlex
from importlib import metadata
from urllib.parse import unquote, urlsplit

REQUIREMENT = "./asara-0.1.0-py3-none-any.whl"
"""The requirement that guides pass to pip: no registry has the package yet. Once a registry does,
set this to "asara"; a test then lists the guides to change."""


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation, using its original source."""
    option, origin = _origin()
    return f"pip install {option}{shlex.quote(f'{origin}[{extra}]')}"


def _origin() -> tuple[str, str]:
    """Return pip's option and the source that the package was installed from (PEP 610)."""
    try:
        about = json.loads(metadata.distribution("asara").read_text("direct_url.json") or "{}")
        url = urlsplit(str(about["url"]))
    except (metadata.PackageNotFoundError, ValueError, KeyError):
        return "", REQUIREMENT
    editable = "-e " if about.get("dir_info", {}).get("editable") else ""
    if url.scheme != "file":
        return editable, f"asara @ {url.geturl()}"
    return editable, unquote(url.path)
