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


def test_steps_that_lead_too_far_are_halved_until_the_ties_have_their_odds() -> None:
    """With odds x and y of the ties, the slopes are 12 - 12 x/(2 + x) - 3 x/(1 + x) and
    40 - 43 y/(3 + 3 x + y). The prior has three matches, which were not tied.
    """
    two = [{0: 1, 1: 1}, {1: 1, 2: 1}, {2: 1, 0: 1}]
    one_last = [{**tied, third: 2} for tied, third in zip(two, (2, 0, 1), strict=True)]
    found = fitted(*two * 3, *one_last, *[{0: 1, 1: 1, 2: 1}] * 40)
    x = 3 + np.sqrt(17)
    assert np.exp(found.ties) == pytest.approx([x, 40 * (1 + x)], rel=1e-5)
    assert found.strengths == pytest.approx([0, 0, 0])
