"""What a match was decided by: the price of each decision, and the luck of each draw.

    price = DecisionPricer(rules, BUDGETS["quick"]).price(worlds.sample, legal, chosen, "m/0/1")
    print(price.best, price.loss)

A decision is priced in worlds that fit what its seat knew. Luck is measured with all cards open.
"""

from __future__ import annotations

from .advice import advise
from .budgets import BUDGETS, VERSION, Budget
from .course import Priced, turn_course
from .decision_price import CandidatePrice, DecisionPrice, DecisionPricer
from .luck import Luck, deal_luck, draw_luck, is_draw
from .statistics import Estimate

__all__ = [
    "BUDGETS",
    "VERSION",
    "Budget",
    "CandidatePrice",
    "DecisionPrice",
    "DecisionPricer",
    "Estimate",
    "Luck",
    "Priced",
    "advise",
    "deal_luck",
    "draw_luck",
    "is_draw",
    "turn_course",
]
