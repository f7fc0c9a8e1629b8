"""Post-processing costs nothing: by enumeration of random channels and random functions, and in the combinator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH

from jali.errors import CatalogError
from jali.mechanisms import Gaussian, Laplace
from jali.privacy import Loss, Pure
from jali.privacy.postprocessing import PostProcessed, postprocess

Row = tuple[Fraction, ...]


def rows(size: int) -> st.SearchStrategy[Row]:
    """Probability vectors of a given length, exact, zeros included."""
    weights = st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any)
    return weights.map(lambda w: tuple(Fraction(x, sum(w)) for x in w))


def after(row: Row, kernel: Sequence[Row]) -> Row:
    """The law of a random function of the outcome."""
    return tuple(
        sum((p * k for p, k in zip(row, column, strict=True)), Fraction(0)) for column in zip(*kernel, strict=True)
    )


def hockey_stick(p: Row, q: Row, odds: Fraction) -> Fraction:
    return sum((max(a - odds * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


@st.composite
def channels(draw: st.DrawFn) -> tuple[Row, Row, list[Row]]:
    """Two laws of a release, and a randomized function of it."""
    outcomes, results = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    kernel = [draw(rows(results)) for _ in range(outcomes)]
    return draw(rows(outcomes)), draw(rows(outcomes)), kernel


@settings(max_examples=60 * DEPTH, derandomize=True, deadline=None)
@given(channels(), st.fractions(1, 30, max_denominator=12))
def test_no_randomized_function_raises_a_hockey_stick_divergence(
    channel: tuple[Row, Row, list[Row]], odds: Fraction
) -> None:
    p, q, kernel = channel
    assert hockey_stick(after(p, kernel), after(q, kernel), odds) <= hockey_stick(p, q, odds)


def test_a_reversible_function_keeps_the_divergence_and_a_constant_removes_it() -> None:
    p, q = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))
    swap = [(Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))]
    assert hockey_stick(after(p, swap), after(q, swap), Fraction(2)) == hockey_stick(p, q, Fraction(2)) > 0
    constant = [(Fraction(1),), (Fraction(1),)]
    assert hockey_stick(after(p, constant), after(q, constant), Fraction(1)) == 0


def test_a_function_that_reads_the_data_again_is_not_post_processing() -> None:
    """The test can fail: a kernel that differs between neighbours raises the divergence from 0 to 1."""
    p = q = (Fraction(1, 2), Fraction(1, 2))
    told, other = [(Fraction(1), Fraction(0))] * 2, [(Fraction(0), Fraction(1))] * 2
    assert hockey_stick(p, q, Fraction(1)) == 0
    assert hockey_stick(after(p, told), after(q, other), Fraction(1)) == 1


@dataclass
class Recorder:
    """A mechanism that releases what it is told to, and remembers what it was given."""

    loss: Loss = field(default_factory=lambda: Pure(1))
    seen: list[Any] = field(default_factory=list)

    def release(self, value: int, *, shift: int = 0) -> int:
        self.seen.append(value)
        return value + shift


def test_the_function_gets_the_release_and_nothing_else() -> None:
    mechanism, given_to_function = Recorder(), []

    def function(released: int) -> str:
        given_to_function.append(released)
        return f"about {released}"

    followed = postprocess(mechanism, function)
    assert followed.release(40, shift=2) == "about 42"
    assert (mechanism.seen, given_to_function) == ([40], [42])


def test_the_loss_is_that_of_the_mechanism() -> None:
    laplace = Laplace(sensitivity=1, epsilon=0.5)
    assert postprocess(laplace, abs).loss == Pure(0.5)
    gaussian = Gaussian(sensitivity=1, rho=0.1)
    assert postprocess(gaussian, round).loss == gaussian.loss


def test_functions_follow_each_other() -> None:
    twice = postprocess(Recorder(), lambda x: x + 1).then(lambda x: 10 * x).then(str)
    assert isinstance(twice, PostProcessed)
    assert twice.release(4) == "50"
    assert twice.loss == Pure(1)


def test_a_randomized_function_draws_anew_for_every_release() -> None:
    draws = iter([3, 5])
    noisier = postprocess(Recorder(), lambda x: x + next(draws))
    assert (noisier.release(1), noisier.release(1)) == (4, 6)


@pytest.mark.parametrize(
    "mechanism", [None, Pure(1), lambda x: x, type("Free", (), {"loss": 1, "release": abs})()]
)
def test_a_mechanism_has_a_loss_and_a_release(mechanism: Any) -> None:
    with pytest.raises(CatalogError, match="mechanism"):
        postprocess(mechanism, abs)


def test_a_function_can_be_called() -> None:
    with pytest.raises(CatalogError, match="function"):
        postprocess(Recorder(), "abs")  # type: ignore[arg-type]
