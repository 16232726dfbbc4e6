"""Seeds that cannot be found by trying, and texts that stand for one."""

import pytest

from asara_server.match.deal_secrets import tournament_secret
from asara_server.tournament.config.seeds import check_seed, draw_seed, local_seed
from asara_server.tournament.schedule.schedule import bot_seed
from tests.tournament.sample_bots import SEED


def test_seeds_that_were_drawn_are_strong_and_differ():
    drawn = {draw_seed() for _ in range(2_000)}
    assert len(drawn) == 2_000
    assert {check_seed(seed) for seed in drawn} == drawn


def test_the_case_of_a_seed_does_not_matter():
    assert check_seed(SEED.upper()) == SEED
    assert local_seed(SEED.upper()) == SEED


@pytest.mark.parametrize("text", ["spring", "", " " + SEED, SEED + "\n", "ab" * 32, "0" * 63 + "1"])
def test_other_texts_are_refused_with_a_seed_to_use_instead(text):
    with pytest.raises(ValueError, match=r"or use this new one: [0-9a-f]{64}$") as refused:
        check_seed(text)
    new = str(refused.value)[-64:]
    assert check_seed(new) == new


@pytest.mark.parametrize("text", ["spring", "", "ab" * 32, "tournée ✓"])
def test_any_text_stands_for_a_seed_in_matches_between_ones_own_bots(text):
    assert check_seed(local_seed(text)) == local_seed(text)
    assert local_seed(text) != local_seed(text + " ")


def test_a_search_on_the_seed_of_a_bot_finds_what_was_chosen_and_not_what_was_drawn():
    """The attack on a tournament with `seed = "spring"`, which is no longer accepted."""

    def search(own_seed: int) -> bytes | None:
        for guess in ("autumn", "spring", "summer"):
            for seed in (guess, local_seed(guess)):
                if bot_seed(seed, "mine") == own_seed:
                    return tournament_secret(seed)
        return None

    chosen, drawn = local_seed("spring"), draw_seed()
    assert search(bot_seed(chosen, "mine")) == tournament_secret(chosen)
    assert search(bot_seed(drawn, "mine")) is None
    with pytest.raises(ValueError, match="needs 64 random hexadecimal digits"):
        check_seed("spring")
