"""Causal filters: exact for integers of every size, wherever a block begins."""

from __future__ import annotations

import numpy as np
import pytest

from jali.streams.causal import Causal
from jali.streams.participation import Participation
from jali.streams.past import Past
from jali.streams.toeplitz_root import ToeplitzRoot

ONCE = Participation(adjacency="add-remove")


def slowly(column: list[int], past: list[int], start: int) -> list[int]:
    return [sum(column[t - j] * past[j] for j in range(t + 1)) for t in range(start, len(past))]


@pytest.mark.parametrize("largest", [1, 1000, 1 << 31, 1 << 70])
@pytest.mark.parametrize(("start", "ticks"), [(0, 1), (0, 200), (150, 200), (0, 33), (199, 200), (100, 140)])
def test_sums_of_integers_are_exact(largest: int, start: int, ticks: int) -> None:
    generator = np.random.default_rng(ticks + start)
    column = np.sort(generator.integers(0, 1 << 20, 256))[::-1].copy()
    signs = generator.integers(-1000, 1001, ticks).tolist()
    past = [sign * largest // 1000 for sign in signs]
    causal = Causal(column)
    kind = np.int64 if largest < causal.roomy else object
    found = causal.integers(np.array(past, dtype=kind), start)
    assert found.tolist() == slowly(column.tolist(), past, start)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_least_favourable_increments_are_summed_exactly_too(sign: int) -> None:
    """All increments at the limit of a digit and all coefficients at their largest: the worst for rounding."""
    ticks = 1 << 12
    column = np.full(ticks, 1 << 24)
    for value in (1, 255, 256, (1 << 24) - 1):
        found = Causal(column).integers(np.full(ticks, sign * value), 0)
        assert (found == sign * value * (1 << 24) * np.arange(1, ticks + 1)).all()


def test_a_long_stream_is_summed_exactly_at_places_looked_at() -> None:
    ticks = 1 << 17
    column = ToeplitzRoot(horizon=ticks, rho=1, person=ONCE).column
    past = np.random.default_rng(3).integers(-(1 << 28), 1 << 28, ticks)
    found = Causal(column).integers(past, 0)
    for t in (0, 1, 12_345, ticks - 1):
        assert found[t] == sum(c * x for c, x in zip(column[t::-1].tolist(), past[: t + 1].tolist(), strict=True))


def test_doubles_by_transforms_and_one_by_one_agree() -> None:
    generator = np.random.default_rng(5)
    causal, past = Causal(generator.random(300)), generator.normal(size=300)
    whole = causal.doubles(past, 0)
    assert causal.doubles(past, 290) == pytest.approx(whole[290:], abs=1e-12)
    assert whole == pytest.approx(np.convolve(causal.column, past)[:300], abs=1e-12)


def test_a_past_grows_and_keeps_what_it_had() -> None:
    past = Past(np.zeros((2, 0), np.int64))
    parts = [np.arange(2 * n).reshape(2, n) for n in (1, 0, 5, 3)]
    for part in parts:
        past.grow(part)
    assert past.rows.dtype == np.int64
    past.grow(np.array([[1 << 80], [0]], dtype=object))
    assert past.rows.tolist() == [
        [*np.concatenate(parts, axis=1)[key].tolist(), last] for key, last in ((0, 1 << 80), (1, 0))
    ]
