"""All kinds of loss, as strategies: a kind joins the laws by one line here."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from jali.privacy import (
    Approximate,
    BoundedRange,
    Concentrated,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    Finite,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    PrivacyLossDistribution,
    Pure,
    RandomizedResponseLoss,
    Renyi,
    SubsampledLoss,
    compose,
    parallel,
)

EPSILONS = st.fractions(Fraction(1, 100), 3, max_denominator=200)
DELTAS = st.sampled_from(["1e-9", "1e-6", "0.001", "0.05"])
SIZES = st.fractions(Fraction(1, 2), 20, max_denominator=20)
RATES = st.sampled_from(["0.01", "0.2", "0.9", "1"])


@st.composite
def _finite(draw: st.DrawFn) -> Finite:
    weights = st.lists(st.integers(1, 9), min_size=3, max_size=3)
    rows = [draw(weights) for _ in range(2)]
    p, q = ([Fraction(weight, sum(row)) for weight in row] for row in rows)
    return Finite.from_pair(p, q)


def _subsampled(base: st.SearchStrategy[Loss], sampling: str, adjacency: str) -> st.SearchStrategy[Loss]:
    def sample(loss: Loss, rate: str) -> Loss:
        return SubsampledLoss(loss, rate, sampling=sampling, adjacency=adjacency)

    return st.builds(sample, base, RATES)


PURE: st.SearchStrategy[Loss] = st.builds(Pure, EPSILONS)
GAUSSIAN: st.SearchStrategy[Loss] = st.builds(GaussianLoss, SIZES)
LAPLACE: st.SearchStrategy[Loss] = st.builds(LaplaceLoss, SIZES, st.integers(1, 3))
BASES = st.one_of(PURE, GAUSSIAN, LAPLACE)

# What has a distribution that some mechanism attains, so that it can be bounded from below too.
ATTAINED: dict[str, st.SearchStrategy[Loss]] = {
    "pure": PURE,
    "approximate": st.builds(Approximate, EPSILONS, DELTAS),
    "bounded range": st.builds(BoundedRange, EPSILONS),
    "finite": _finite(),
    "Gaussian": GAUSSIAN,
    "Laplace": LAPLACE,
    "discrete Laplace": st.builds(DiscreteLaplaceLoss, SIZES, st.integers(1, 5)),
    "discrete Gaussian": st.builds(DiscreteGaussianLoss, SIZES, st.integers(1, 3)),
    "randomized response": st.builds(RandomizedResponseLoss, EPSILONS, st.integers(2, 6)),
    "Poisson sample": _subsampled(BASES, "poisson", "add-remove"),
    "sample without replacement": _subsampled(BASES, "without-replacement", "replace-one"),
}
KINDS: dict[str, st.SearchStrategy[Loss]] = {
    **ATTAINED,
    "concentrated": st.builds(Concentrated, EPSILONS),
    "Rényi": st.builds(lambda rho: Renyi({order: order * rho for order in (2, 3, 5, 8, 16, 40)}), EPSILONS),
    "composition": st.builds(lambda one, two: compose((one, 3), two), BASES, BASES),
    "distribution": st.builds(lambda one, two: PrivacyLossDistribution([(one, 2), two]), BASES, BASES),
    "group": st.builds(lambda loss, size: loss.group(size), st.one_of(_finite(), BASES), st.integers(2, 3)),
    "parallel": st.builds(
        lambda one, two: parallel([one, two], partition="value", adjacency="replace-one"), BASES, BASES
    ),
}
