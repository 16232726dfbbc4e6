"""Prints the guide for a command, which its help page mentions."""

from difflib import get_close_matches
from pathlib import Path

import asara_server
from asara_server import bundled
from asara_server.cli.display.examples import GUIDES
from asara_server.user_error import UserError


def print_guide(command: str) -> None:
    """Print the document, or the section of one, about a command or its group."""
    page = GUIDES.get(command) or GUIDES.get(command.partition(" ")[0])
    if page is None:
        close = get_close_matches(command, GUIDES, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise UserError(f"--guide: add a command, for example `asara help --guide match`{hint}")
    document, _, heading = page.partition("#")
    packages, parts = Path(asara_server.__file__).parents[1], Path(document).parts
    path = packages.joinpath(*parts[1:]) if parts[0] == "server" else bundled.path(*parts)
    text = path.read_text(encoding="utf-8")
    if heading:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        text = f"## {heading}\n{text}"
    print(text.rstrip())
