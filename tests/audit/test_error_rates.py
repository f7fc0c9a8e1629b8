"""How often audits err: honest mechanisms accused, and wrong scales missed, each counted over many audits.

The figures are those of the laboratory: audits at the 1 % level accuse an honest mechanism in at most 5 % of 400
repeats, and catch a scale that is wrong by a factor of 1.25 in 99 % with 200,000 samples. Jali's noise has no
seed; each count below would be exceeded by chance less often than once in a million runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from scipy import stats
from tests.depth import DEPTH, deep

from jali.lab.audit import Effort, Subject, Verdict, audit
from jali.lab.audit.broken import HONEST, broken_additive
from jali.lab.audit.broken.definition import CLAIM
from jali.lab.audit.subject import Tester
from jali.lab.audit.testers.pairwise import Pairwise
from jali.privacy import Pure

_REPEATS = 400 if DEPTH > 1 else 50
_QUICK = 20_000
_WRONG = Fraction(5, 4)


def _accused(
    subject: Subject, effort: Effort, testers: tuple[Tester, ...] | None = None, repeats: int = _REPEATS
) -> int:
    return sum(audit(subject, effort, testers).verdict is Verdict.VIOLATION for _ in range(repeats))


def _most(repeats: int, level: float) -> int:
    """Return how many accusations at a level are more than chance explains, once in a million."""
    return int(stats.binom.isf(1e-6, repeats, level))


@deep
def test_an_honest_mechanism_is_seldom_accused_by_all_stages() -> None:
    repeats = _REPEATS if DEPTH > 1 else 20
    accused = _accused(broken_additive.exact_laplace(), Effort(_QUICK), repeats=repeats)
    assert accused <= _most(repeats, 0.01)
    if repeats == 400:
        assert accused <= 0.05 * repeats


@deep  # ten minutes
@pytest.mark.parametrize("maker", HONEST, ids=lambda maker: str(maker.__name__))
def test_every_honest_mechanism_is_seldom_accused(maker: Callable[[], Subject]) -> None:
    # Their noise is floating-point noise, whose digits are another stage's business.
    accused = _accused(maker(), Effort(_QUICK), (Pairwise(),))
    assert accused <= min(_most(_REPEATS, 0.01), 0.05 * _REPEATS)


@deep
def test_at_a_low_confidence_an_honest_mechanism_is_accused_now_and_then_and_not_too_often() -> None:
    """It spends all that it claims: a count of accusations can be too large."""
    accused = _accused(broken_additive.exact_laplace(), Effort(4000, Fraction(1, 2)))
    assert 0 < accused <= _most(_REPEATS, 0.5)


def _wrong(maker: Callable[..., Subject]) -> Subject:
    return replace(maker(CLAIM * _WRONG), claim=Pure(CLAIM))


def test_a_scale_that_is_wrong_by_a_quarter_is_caught_by_its_rates() -> None:
    """Seeded: of 3,000 audits with other seeds 5 missed it."""
    missed = [
        seed
        for seed in range(_REPEATS)
        if Pairwise().audit(_wrong(broken_additive.laplace), Effort(200_000, seed=seed)).verdict
        is not Verdict.VIOLATION
    ]
    assert len(missed) <= 0.01 * _REPEATS, missed


def test_a_scale_that_is_wrong_by_a_quarter_is_caught_by_all_stages() -> None:
    missed = _REPEATS - _accused(_wrong(broken_additive.exact_laplace), Effort(200_000))
    assert missed <= _most(_REPEATS, 0.01)
