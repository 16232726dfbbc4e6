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
    plays: bool
    """True if the attack answers decisions itself, or means to answer none."""


ATTACKS: dict[str, Attack] = {}


def attack(*, plays: bool = False) -> Callable[[Program], Program]:
    """Add a function to the list, under its name with hyphens."""

    def add(run: Program) -> Program:
        name = run.__name__.replace("_", "-")
        ATTACKS[name] = Attack(name, run, plays)
        return run

    return add
