"""How many playouts an analysis takes. A budget counts playouts, never time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["BUDGETS", "VERSION", "Budget"]

VERSION: Final = 1
"""Version of the analyser, raised when the same replay would get other numbers."""


@dataclass(frozen=True)
class Budget:
    """Numbers of playouts.

    - `candidates`: maximum number of actions compared at a decision; the chosen one is always
      among them
    - `choosing`: playouts of a decision that choose the best candidate
    - `pricing`: worlds in which the best candidate is compared with the chosen one at first
    - `doubtful`: maximum number of these worlds if the chosen action may be a mistake
    - `luck`: playouts of what was drawn, and as many other draws
    """

    candidates: int
    choosing: int
    pricing: int
    doubtful: int
    luck: int


BUDGETS: Final = {
    "quick": Budget(candidates=8, choosing=32, pricing=8, doubtful=64, luck=32),
    "normal": Budget(candidates=12, choosing=240, pricing=40, doubtful=640, luck=200),
    "deep": Budget(candidates=24, choosing=1600, pricing=200, doubtful=4000, luck=1000),
}
