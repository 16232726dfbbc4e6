"""Seeds that cannot be found by trying, and texts that stand for one."""

import pytest

from asara_server.match.deal_secrets import check_seed, draw_seed, local_seed
from tests.tournament.sample_bots import SEED


def test_seeds_that_were_drawn_are_strong_and_differ():
    drawn = {draw_seed() for _ in range(2_000)}
    assert len(drawn) == 2_000
    assert {check_seed(seed) for seed in drawn} == drawn


def test_the_case_of_a_seed_does_not_matter():
    assert check_seed(SEED.upper()) == SEED
    assert local_seed(SEED.upper()) == SEED


@pytest.mark.parametrize("text", ["spring", "", "ab" * 32, "tournée ✓"])
def test_any_text_stands_for_a_seed_in_matches_between_ones_own_bots(text):
    assert check_seed(local_seed(text)) == local_seed(text)
    assert local_seed(text) != local_seed(text + " ")
