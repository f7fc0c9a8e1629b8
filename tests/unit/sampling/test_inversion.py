from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import count, pairwise

import numpy as np
import pytest
from tests.depth import thinned
from tests.distribution.exact_laws import AnyLaw, mass, mpmath, real

from jali.sampling import DiscreteGaussian, DiscreteLaplace, Geometric
from jali.sampling.guide_table import BULK, BitWidths, BlockSampler
from jali.sampling.inversion import Ladder, Progression, build_ladder

UNKNOWN = -(1 << 15)
RUNGS = 2000
SERIES = {
    "geometric": (Progression(Fraction(0), Fraction(1, 3)),),
    "laplace": (Progression(Fraction(0), Fraction(1, 5)), Progression(Fraction(1, 5), Fraction(1, 5))),
    "blocks of laplace": (
        Progression(Fraction(0), Fraction(3, 7)),
        Progression(Fraction(1, 10**9), Fraction(3, 7)),
    ),
    "gaussian": (
        Progression(Fraction(0), Fraction(1, 8), Fraction(1, 4)),
        Progression(Fraction(1, 8), Fraction(3, 8), Fraction(1, 4)),
    ),
    "narrow gaussian": (
        Progression(Fraction(0), Fraction(50), Fraction(100)),
        Progression(Fraction(50), Fraction(150), Fraction(100)),
    ),
    "minute": (Progression(Fraction(0), Fraction(1000)), Progression(Fraction(1000), Fraction(1000))),
}


@cache
def _survivals(name: str) -> list[mpmath.mpf]:
    """S(0), S(1), ... from the definition, by plain summation to 700 bits; rungs of 128 bits are far fewer."""
    series = SERIES[name]
    weights: list[mpmath.mpf] = []
    for k in count():
        row = [mpmath.exp(-real(p.first + k * p.step + Fraction(k * (k - 1), 2) * p.growth)) for p in series]
        weights += row
        if len(weights) > RUNGS and row[0] < mpmath.mpf(2) ** -690:
            break
    sums = [mpmath.mpf(0)]
    for weight in reversed(weights):
        sums.append(sums[-1] + weight)
    return [partial / sums[-1] for partial in reversed(sums)]


@thinned(4)
@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize(("width", "depth"), [(4, 4), (16, 12), (64, 12), (64, 64), (128, 128)])
@pytest.mark.parametrize("guard", [0, 24])
def test_rungs_enclose_the_survival_probabilities(name: str, width: int, depth: int, guard: int) -> None:
    ladder = build_ladder(SERIES[name], width, depth, guard)
    rungs = len(ladder.lows)
    exact = _survivals(name)
    assert rungs < RUNGS
    for z in range(1, rungs + 1):
        low, high, truth = ladder.lows[-z], ladder.highs[-z], exact[z] * mpmath.mpf(2) ** width
        assert low <= truth < high + 1
        assert high - low <= 1 + (guard == 0)
    assert list(ladder.lows) == sorted(ladder.lows)
    assert list(ladder.highs) == sorted(ladder.highs)


def test_a_ladder_answers_only_where_all_its_numbers_agree() -> None:
    """Rungs between 9 and 10, between 4 and 6 (loose), and the bottom one between 1 and 2, out of 16."""
    ladder = Ladder(4, lows=(1, 4, 9), highs=(1, 5, 9))
    expected = [None, None, 2, 2, None, None, 1, 1, 1, None, 0, 0, 0, 0, 0, 0]
    assert [ladder.locate(word) for word in range(16)] == expected
    indices, doubtful = ladder.locate_all(np.arange(16, dtype=np.uint64))
    assert [None if w in doubtful.tolist() else int(indices[w]) for w in range(16)] == expected


LAWS: list[AnyLaw] = [
    Geometric(Fraction(7, 2)),
    DiscreteLaplace(Fraction(1, 1000)),
    DiscreteLaplace(Fraction(10)),
    DiscreteLaplace(Fraction(63)),
    DiscreteGaussian(Fraction(1, 100)),
    DiscreteGaussian(Fraction(100)),
    DiscreteGaussian(Fraction(3999)),
]


@thinned(4)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_every_cell_of_the_guide_table_holds_one_value_or_none(law: AnyLaw) -> None:
    """The cells [c, c+1) / 2**16 are compared with the exact law; what is left to refine is little."""
    heads, chance = BlockSampler(law, BULK)._guide.heads, mass(law)
    above = mpmath.mpf(1)  # Pr[Z >= z], which falls through the cells as z rises
    cells, unknown = 1 << 16, 0
    two_sided = not isinstance(law, Geometric)
    for z in count():
        head = (z >> 1) ^ -(z & 1) if two_sided else z
        below = above - chance(head)
        first = max(1, min(cells, int(mpmath.ceil(below * 65536))))
        here = heads[first:cells]
        # Cells that end above Pr[Z >= z] are shared with a smaller z: nothing may be said there.
        whole = max(0, int(mpmath.floor(above * 65536)) - first)
        assert np.isin(here[:whole], (head, UNKNOWN)).all()
        assert (here[whole:] == UNKNOWN).all()
        unknown += int(np.count_nonzero(here == UNKNOWN))
        above, cells = below, first
        if above * 65536 < 1:
            break
    assert cells == 1
    assert heads[0] == UNKNOWN  # the tail is never cut
    assert unknown <= 0.03 * 65536


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(2**40)), DiscreteGaussian(Fraction(10**12, 7))], ids=str)
def test_a_coin_below_the_sure_mark_keeps_every_offset(law: AnyLaw) -> None:
    sampler = BlockSampler(law, BULK)
    guide = sampler._guide
    assert (guide.sure[guide.heads == UNKNOWN] == 0).all()
    furthest = (1 << sampler.shift) - 1
    for head in range(-60, 60):
        cells = np.flatnonzero(guide.heads == head)
        nearest = (head if head >= 0 else ~head) * (1 << sampler.shift) + (head < 0)
        chance = mpmath.exp(-real(law.tilt(nearest, furthest)))
        assert all(mpmath.mpf(int(sure)) / 65536 <= chance for sure in np.unique(guide.sure[cells]))


def test_the_first_rung_of_a_minute_law_is_found_far_down() -> None:
    """sigma = 1/10: Pr[X != 0] is about 2 exp(-50) = 2**-71.1, invisible to 64 bits and not to 128."""
    law = DiscreteGaussian(Fraction(1, 100))
    assert BlockSampler(law, BULK)._ladder.highs[-1] == 0
    rung = BlockSampler(law, BitWidths(5, 16, 64, 64))._ladder_of(128).lows[-1]
    exact = int((1 - mass(law)(0)) * mpmath.mpf(2) ** 128)
    assert rung == exact > 2**56


@pytest.mark.parametrize(
    ("law", "at_zero", "mean_size", "variance"),
    [
        (DiscreteLaplace(Fraction(1)), 0.4621171573, 0.8509181282, 1.8413471884),
        (DiscreteLaplace(Fraction(910239226627, 10**12)), 0.5, 0.75, 1.5),  # epsilon = ln 3
        # at 0, by Poisson summation: 1 / (sqrt(2 pi) (1 + 2 exp(-2 pi**2)))
        (DiscreteGaussian(Fraction(1)), 0.3989422783, None, 0.9999997888),
    ],
    ids=str,
)
def test_the_rungs_give_the_numbers_of_the_theorem_book(
    law: AnyLaw, at_zero: float, mean_size: float | None, variance: float
) -> None:
    rungs = [2**64, *reversed(BlockSampler(law, BULK)._ladder.lows)]
    masses = [(high - low) / 2**64 for high, low in pairwise(rungs)]
    heads = [(z >> 1) ^ -(z & 1) for z in range(len(masses))]
    assert masses[0] == pytest.approx(at_zero, abs=1e-10)
    assert sum(m * x * x for m, x in zip(masses, heads, strict=True)) == pytest.approx(variance, abs=2e-10)
    if mean_size is not None:
        assert sum(m * abs(x) for m, x in zip(masses, heads, strict=True)) == pytest.approx(mean_size, abs=1e-10)
