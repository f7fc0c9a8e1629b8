"""Piecewise scores on a lattice agree with the score of every single point."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH

from jali.errors import MechanismError
from jali.mechanisms.selection.piecewise_scores import Piecewise, PiecewiseOnLattice

numbers = st.fractions(-8, 8, max_denominator=4)
closing: Any = st.sampled_from(["left", "right"])


@given(
    data=st.data(),
    breaks=st.lists(numbers, max_size=5).map(sorted),
    closed=closing,
    low=st.fractions(-4, 2, max_denominator=3),
    step=st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(5, 4)]),
    stretch=st.sampled_from([1, 2**70]),
)
@settings(max_examples=40 * DEPTH, deadline=None, derandomize=True)
def test_every_lattice_point_keeps_its_score(
    data: Any,
    breaks: list[Fraction],
    closed: Literal["left", "right"],
    low: Fraction,
    step: Fraction,
    stretch: int,
) -> None:
    size = len(breaks) + 1
    scores = data.draw(st.lists(numbers, min_size=size, max_size=size))
    slopes = [slope * stretch for slope in data.draw(st.lists(numbers, min_size=size, max_size=size))]
    score = Piecewise(breaks=breaks, scores=scores, slopes=slopes, closed=closed)
    board = PiecewiseOnLattice.of(score, low, step, 12)
    assert board.lengths.sum() == 12
    for start, end, base, rise, place in zip(
        board.starts, board.ends, board.bases, board.rises, board.places, strict=True
    ):
        for index in range(int(start), int(end)):
            y = low + index * step
            expected = scores[place] + slopes[place] * y
            assert score.at(y) == expected
            assert (int(base) + int(rise) * index) * board.unit == expected
    best = max(score.at(low + index * step) for index in range(12))
    assert int(board.tops.max()) * board.unit == best
    for piece in range(len(board.starts)):
        found = [board.index(piece, offset) for offset in range(int(board.lengths[piece]))]
        assert sorted(found) == list(range(int(board.starts[piece]), int(board.ends[piece])))
        values = [score.at(low + index * step) for index in found]
        assert values == sorted(values, reverse=True)


def test_the_end_that_is_closed_belongs_to_the_piece() -> None:
    left = Piecewise(breaks=[2], scores=[0, 1], closed="left")
    right = Piecewise(breaks=[2], scores=[0, 1], closed="right")
    assert [left.at(2), right.at(2)] == [Fraction(1), Fraction(0)]


def test_breaks_out_of_order_or_out_of_range_are_no_error() -> None:
    score = Piecewise(breaks=[5, -100, 10**30], scores=[0, 1, 2, 3])
    assert [int(score.at(y)) for y in (4, 5, 6)] == [0, 2, 2]
    board = PiecewiseOnLattice.of(score, Fraction(0), Fraction(1), 9)
    assert board.places.tolist() == [0, 2]


def test_machine_integers_and_python_integers_agree() -> None:
    breaks, scores = np.arange(0, 50, 5), np.arange(11)
    plain = Piecewise(breaks=breaks.tolist(), scores=scores.tolist())
    packed = Piecewise(breaks=breaks, scores=scores)
    for y in range(-1, 60):
        assert plain.at(y) == packed.at(y)


@pytest.mark.parametrize(
    ("given_as", "name"),
    [
        ({"breaks": [1], "scores": [1]}, "scores"),
        ({"breaks": [1], "scores": [1, 2], "slopes": [1]}, "slopes"),
        ({"breaks": [1], "scores": [1, 2], "closed": "both"}, "closed"),
        ({"breaks": [1.5], "scores": [1, 2]}, "exact"),
    ],
)
def test_badly_shaped_scores_are_refused_by_name(given_as: dict[str, Any], name: str) -> None:
    with pytest.raises(MechanismError, match=name):
        Piecewise(**given_as)


@pytest.mark.parametrize("breaks", [5, None, "", "12", iter([1]), {}, set(), np.array(1), np.zeros((0, 2))])
def test_breaks_that_are_no_list_are_refused_by_name(breaks: Any) -> None:
    with pytest.raises(MechanismError, match="breaks"):
        Piecewise(breaks=breaks, scores=[0])
