"""`asara rules`: the edition in force, with the source of each of its numbers."""

from rich.padding import Padding
from rich.text import Text

from asara_game.edition import load_edition
from asara_game.rules import RULE_COMBINATIONS, format_rule_sets
from asara_server.cli.display.console import out


def rules() -> None:
    """Show the game's numbers with their sources, and the rule sets."""
    edition = load_edition()
    out.print(Text(f"Edition: {edition.name}", "bold"))
    out.print(f"SHA-256: {edition.sha256.hex()}\n", soft_wrap=True)
    for source in edition.sources:
        out.print(Text(source.table, "bold"))
        out.print(Padding(Text(source.values), (0, 0, 0, 4), expand=False))
        out.print(Padding(Text(f"source: {source.source}", "dim"), (0, 0, 0, 4), expand=False))
    names = ", ".join(format_rule_sets(combination) for combination in RULE_COMBINATIONS)
    out.print(f"\nCombinations of rule sets, for --rules and rule_sets: {names}")
