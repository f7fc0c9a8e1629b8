"""Buckets of tickets: how often somebody may call."""

from __future__ import annotations

from jali.server.rate_limit import RateLimiter


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_granted_and_then_the_rate() -> None:
    clock = Clock()
    rates = RateLimiter(2, 5, clock)
    assert [rates.wait("ana") for _ in range(5)] == [0.0] * 5
    assert rates.wait("ana") == 0.5
    clock.now += 0.5
    assert rates.wait("ana") == 0.0
    assert rates.wait("ana") > 0


def test_callers_do_not_share_and_nothing_is_saved_beyond_the_burst() -> None:
    clock = Clock()
    rates = RateLimiter(1, 2, clock)
    assert [rates.wait("ana") for _ in range(3)] == [0.0, 0.0, 1.0]
    assert rates.wait("ben") == 0.0
    clock.now += 1000
    assert [rates.wait("ana") > 0 for _ in range(4)] == [False, False, True, True]


def test_so_many_callers_are_remembered_and_no_more() -> None:
    rates = RateLimiter(0.0, 1, Clock())
    for number in range(10_001):
        assert rates.wait(str(number)) == 0.0
    assert rates.wait("10000") == 3600.0
    assert rates.wait("0") == 0.0  # forgotten
