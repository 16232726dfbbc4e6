import random

import pytest

from asara_search.time_management import TimeManager

US = 1_000_000


def play(bank_s: float, increment_s: float, overheads_s: list[float], searches: int = 2) -> float:
    """Return what is left of the bank after a turn for each overhead; negative: lost on time."""
    manager = TimeManager()
    bank = bank_s
    for played, overhead_s in enumerate(overheads_s):
        clock = bank + increment_s
        manager.begin(round(clock * US), round(increment_s * US))
        used = overhead_s
        for _ in range(searches):
            share_s = manager.share_s(used, len(overheads_s) - played)
            used += share_s
            manager.searched(share_s, share_s)
        if used > clock:
            return clock - used
        bank = clock - used
    return bank


@pytest.mark.parametrize("bank_s", [0.5, 2, 60])
@pytest.mark.parametrize("increment_s", [0, 0.02, 0.5])
@pytest.mark.parametrize("turns", [1, 9, 40])
@pytest.mark.parametrize("searches", [1, 10])  # ten are the steps of a long build
def test_the_clock_lasts_to_the_end(
    bank_s: float, increment_s: float, turns: int, searches: int
) -> None:
    assert play(bank_s, increment_s, [0.003] * turns, searches) > 0


@pytest.mark.parametrize("seed", range(20))
def test_the_clock_lasts_on_a_machine_that_lets_bots_wait(seed: int) -> None:
    rng = random.Random(seed)
    waits = [0.25 if rng.random() < 0.05 else rng.uniform(0, 0.05) for _ in range(45)]
    assert play(2, 0.02, waits) > 0


def test_time_for_replies_is_set_aside_before_a_search_gets_any() -> None:
    assert play(1, 0, [0.002] + [0.024] * 35) > 0


def test_a_search_that_takes_longer_than_planned_counts_as_overhead() -> None:
    slow, punctual = TimeManager(), TimeManager()
    for manager, took_s in ((slow, 0.3), (punctual, 0.1)):
        manager.begin(10 * US, 0)
        manager.searched(0.1, took_s)
        manager.begin(round((10 - took_s) * US), 0)
    assert slow.overhead_s > punctual.overhead_s
    assert slow.longest_s == pytest.approx(0.2)
    assert slow.share_s(0, 20) < punctual.share_s(0, 20)


@pytest.mark.parametrize(("clock_us", "used_s"), [(10_000, 0), (-5, 0), (500_000, 1)])
def test_a_tiny_clock_is_answered_at_once(clock_us: int, used_s: float) -> None:
    manager = TimeManager()
    manager.begin(clock_us, 0)
    assert manager.share_s(used_s, 1) == 0


def test_a_full_clock_is_used() -> None:
    manager = TimeManager()
    manager.begin(60_500_000, 500_000)
    assert manager.share_s(0, 37) > 0.8
    assert 60 - play(60, 0.5, [0.003] * 37) > 40
