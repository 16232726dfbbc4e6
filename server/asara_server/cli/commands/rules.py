"""`asara rules`: show all numbers of the edition in use, and the source of each table."""

import re
from importlib import resources
from typing import Final

from rich.text import Text

from asara_game.edition import load_edition
from asara_game.rules import RULE_COMBINATIONS, format_rule_sets
from asara_server.cli.display.console import out

_TITLES: Final = {
    "prices": "Price of a section, in Asari",
    "tiles": "Sections, by kind and colour",
    "lit_windows": "Lit windows, by colour",
    "buyers": "Buyers, by colour",
    "hand_size": "Buyers in each hand, by number of seats",
    "starting_asari": "Asari at the start of the match, clockwise from the first seat",
    "yearly_asari": "Income at the start of each later year, in Asari",
    "market": "Spaces and displayed sections in each market",
    "bank": "Bank spaces, in Asari",
    "caliphs_patronage": "The caliph's patronage",
    "gifts": "Gift cards and chests",
    "gifts_professional": "Additional gift cards and chests in the pro rule set",
    "awards": "Prestige at the end of the game, for the leader and the runner-up",
}
"""Headings for tables whose names are not clear enough."""


def rules() -> None:
    """Show the choices for --rules, and all costs and other numbers.

    All numbers come from the rulebook, except those marked as taken from published reviews of the
    game, or as reconstructed because no available source has them.
    """
    edition = load_edition()
    out.print(Text(f"Edition: {edition.name}", "bold"))
    out.print(f"SHA-256: {edition.sha256.hex()}\n", soft_wrap=True)
    for source in edition.sources:
        title = _TITLES.get(source.table, source.table.replace("_", " ").capitalize())
        out.print(f"{title}{_mark(source.source)}", style="bold")
        for part in _parts(source.values):
            _print_values(part)
    out.print()
    out.print("Numbers below a heading without a mark come from the rulebook. All sources:")
    with resources.as_file(resources.files("asara_game").joinpath("edition.toml")) as file:
        out.print(f"    {file}", soft_wrap=True)
    out.print()
    out.print("Rules of a match, for --rules and tournament files:")
    _print_values(", ".join(map(format_rule_sets, RULE_COMBINATIONS)))


def _parts(values: str) -> list[str]:
    """Return the values of a table, on a single line if they fit."""
    return [values] if len(values) <= out.width - 4 else values.split("; ")


def _print_values(values: str) -> None:
    """Print values, indented; a line ends only between two values."""
    kept = re.sub(r"(?<![,;:]) ", "\N{NO-BREAK SPACE}", values)
    out.print(Text(f"    {kept}"), lead=" " * 8)


def _mark(source: str) -> str:
    """Return the note in a table's title about numbers that the rulebook does not print."""
    if "reconstructed" in source:
        return " (partly reconstructed)"
    return "" if source == "rulebook" else " (partly from published reviews)"
