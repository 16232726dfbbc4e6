"""`asara rules`: the edition in force, with the source of each of its numbers."""

from typing import Final

from rich.padding import Padding
from rich.text import Text

from asara_game.edition import load_edition
from asara_game.rules import RULE_COMBINATIONS, format_rule_sets
from asara_server.cli.display.console import out

_TITLES: Final = {
    "prices": "Price of a section in Asari, by colour",
    "tiles": "Sections of each kind and colour",
    "lit_windows": "Lit windows of each colour",
    "buyers": "Buyers of each colour",
    "hand_size": "Buyers in a hand, by number of seats",
    "starting_asari": "Asari at the start, clockwise from the starting player",
    "yearly_asari": "Asari at the start of every later year",
    "market": "Spaces and displayed sections of each market",
    "bank": "Asari on the spaces of the bank",
    "caliphs_patronage": "The caliph's patronage",
    "gifts": "Gift cards and chests",
    "gifts_professional": "Further gift cards and chests with the rule set pro",
    "awards": "Prestige after the last year, for the first and the second place",
}
"""Headings of tables whose names do not say enough."""


def rules() -> None:
    """Show the game's costs, limits and scores, and the rule sets.

    Each table names its source: the rulebook, a published review, or a reconstruction.
    """
    edition = load_edition()
    out.print(Text(f"Edition: {edition.name}", "bold"))
    out.print(f"SHA-256: {edition.sha256.hex()}\n", soft_wrap=True)
    for source in edition.sources:
        title = _TITLES.get(source.table, source.table.replace("_", " ").capitalize())
        out.print(Text(title, "bold"))
        out.print(Padding(Text(source.values), (0, 0, 0, 4), expand=False))
        out.print(Padding(Text(f"Source: {source.source}", "dim"), (0, 0, 0, 4), expand=False))
    names = ", ".join(format_rule_sets(combination) for combination in RULE_COMBINATIONS)
    out.print(f"\nRules of a match, for --rules and tournament files:\n    {names}")
