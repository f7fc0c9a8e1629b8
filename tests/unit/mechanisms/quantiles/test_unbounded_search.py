"""Ladders: integers alone, strictly rising, no gap larger than the growth allows."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jali.errors import MechanismError
from jali.mechanisms.quantiles.unbounded_search import build_ladder, read_growth, select_rungs


@settings(deadline=None)
@given(st.fractions(min_value=Fraction(101, 100), max_value=5, max_denominator=1000), st.integers(0, 10**12))
def test_rungs_rise_from_zero_to_the_top_by_one_or_by_the_factor(growth: Fraction, top: int) -> None:
    made = build_ladder(growth, top).tolist()
    assert made[0] == 0
    assert made[-1] == top
    for here, following in pairwise(made):
        assert here < following <= max(here + 1, here * growth)


def test_a_ladder_to_the_end_of_all_rulers_has_some_forty_thousand_rungs() -> None:
    made = build_ladder(Fraction(1001, 1000), 1 << 60)
    assert 35_000 < len(made) < 40_000
    assert made.tolist()[:1001] == list(range(1001))
    assert int(made[-1]) == 1 << 60


def test_a_shared_ladder_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        build_ladder(Fraction(2), 100)[0] = 5


@pytest.mark.parametrize(("bottom", "top"), [(0, 7), (1, 7), (1, 8), (1, 1), (3, 100)])
def test_a_part_of_a_ladder_has_its_rungs_and_its_own_end(bottom: int, top: int) -> None:
    full = build_ladder(Fraction(2), 100).tolist()
    expected = [rung for rung in full if bottom <= rung < top] + [top]
    assert select_rungs(Fraction(2), bottom, top, longest=100).tolist() == expected
    assert select_rungs(Fraction(2), bottom, top, longest=100).dtype == np.int64


@pytest.mark.parametrize("bad", [1, "1.00009", 0, -2, "x", float("nan")])
def test_a_growth_too_close_to_one_is_refused(bad: float | str) -> None:
    with pytest.raises(MechanismError, match="growth"):
        read_growth(bad)
