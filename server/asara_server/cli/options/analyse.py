"""The options of `asara analyse`."""

from enum import StrEnum


class BudgetChoice(StrEnum):
    """The budgets of an analysis; see `asara_search.analysis.BUDGETS`."""

    QUICK = "quick"
    NORMAL = "normal"
    DEEP = "deep"
