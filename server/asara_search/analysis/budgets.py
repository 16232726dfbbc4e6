"""How many playouts an analysis takes. A budget counts playouts, never time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["BUDGETS", "VERSION", "Budget"]

VERSION: Final = 3
"""Version of the analyser, raised when the same replay would get other numbers."""


@dataclass(frozen=True)
class Budget:
    """Numbers of playouts.

    - `candidates`: maximum number of actions compared at a decision, besides the chosen one
    - `choosing`: playouts of a decision that choose the best candidate
    - `years`: years that these playouts last, before the evaluation prices the state
    - `pricing`: worlds in which the best candidate is compared with the chosen one at first
    - `doubtful`: maximum number of these worlds if the chosen action may be a mistake
    - `luck`: playouts of what was drawn, and as many of other draws
    """

    candidates: int
    choosing: int
    years: int
    pricing: int
    doubtful: int
    luck: int


BUDGETS: Final = {
    "quick": Budget(candidates=8, choosing=20, years=1, pricing=6, doubtful=40, luck=24),
    "normal": Budget(candidates=12, choosing=160, years=1, pricing=32, doubtful=320, luck=200),
    "deep": Budget(candidates=24, choosing=1600, years=4, pricing=320, doubtful=3200, luck=2000),
}
