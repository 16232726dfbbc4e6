"""Environments for learning agents: PettingZoo, Gymnasium, arrays of matches, and OpenSpiel."""

from .missing_library import missing

try:
    import numpy as np  # noqa: F401 - every module needs it
except ImportError as error:
    raise missing("numpy", "env") from error
