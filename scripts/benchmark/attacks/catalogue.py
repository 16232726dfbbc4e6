"""The list of all attacks; a module adds its own with `attack`."""

from collections.abc import Callable
from dataclasses import dataclass

from .wire import Target

Program = Callable[[Target], None]


@dataclass(frozen=True)
class Attack:
    """An attack by name."""

    name: str
    run: Program
    stranger: bool
    """True if it needs neither a token nor a place on the organiser's machine."""
    contained: bool
    """True if a contained bot can run it."""
    remote: bool
    """True if a bot with a token at the address for other machines can run it."""
    plays: bool
    """True if the attack answers decisions itself, or means to answer none."""


ATTACKS: dict[str, Attack] = {}


def attack(
    *, stranger: bool = False, contained: bool = True, remote: bool = False, plays: bool = False
) -> Callable[[Program], Program]:
    """Add a function to the list, under its name with hyphens."""

    def add(run: Program) -> Program:
        name = run.__name__.replace("_", "-")
        ATTACKS[name] = Attack(name, run, stranger, contained, remote, plays)
        return run

    return add
