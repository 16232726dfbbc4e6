from asara_server.referee.limits import RateLimiter


def test_a_burst_may_fill_the_window_and_silence_before_it_counts_for_nothing() -> None:
    limiter = RateLimiter(per_second=10, window_s=2)
    for now_s in (0.0, 1_000.0):
        assert [limiter.allow(now_s) for _ in range(21)] == [True] * 20 + [False]


def test_after_a_burst_requests_are_allowed_at_the_rate() -> None:
    limiter = RateLimiter(per_second=10, window_s=2)
    assert limiter.allow(0.0, requests=20)
    assert not limiter.allow(0.0)
    assert limiter.allow(0.1, requests=0)
    assert [limiter.allow(0.25) for _ in range(2)] == [True, False]
