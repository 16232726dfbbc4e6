"""The fitted model where its maximum is known in closed form."""

import numpy as np
import pytest

from asara_server.tournament.standings.plackett_luce import Fit, choices, fit


def fitted(*matches: dict[int, int], prior: float = 0.5) -> Fit:
    """Fit matches, each with the rank of every entry."""
    entry = np.array([each for match in matches for each in match])
    number = np.repeat(np.arange(len(matches)), [len(match) for match in matches])
    score = -np.array([rank for match in matches for rank in match.values()], float)
    made = choices(entry, number, score, number)
    return fit(made, int(entry.max()) + 1, len(matches), prior)


def test_the_tie_of_two_has_the_odds_that_occurred() -> None:
    won, lost, tied = {0: 1, 1: 2}, {0: 2, 1: 1}, {0: 1, 1: 1}
    found = fitted(*[won, lost] * 3, *[tied] * 4, prior=0)
    assert found.strengths[0] == pytest.approx(found.strengths[1])
    assert found.ties == pytest.approx([np.log(4 / 3)])


def test_a_tie_without_an_alternative_is_as_likely_as_the_prior_lets_it_be() -> None:
    matches = 5
    found = fitted(*[{0: 1, 1: 1, 2: 1}] * matches)
    (tie,) = found.ties
    other = 3 / (3 + np.exp(tie))
    assert matches * other == pytest.approx(1e-6 * tie, rel=1e-3)
    assert found.hessian[-1, -1] == pytest.approx(matches * other * (1 - other) + 1e-6, rel=1e-3)
    assert found.strengths == pytest.approx([0, 0, 0])


def test_strengths_differ_by_the_logarithm_of_the_odds() -> None:
    found = fitted(*[{0: 1, 1: 2}] * 3, {0: 2, 1: 1}, prior=0)
    assert found.strengths[0] - found.strengths[1] == pytest.approx(np.log(3))
