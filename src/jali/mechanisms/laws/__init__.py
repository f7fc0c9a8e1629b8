"""Noise laws: tails, quantiles and moments of the integer noises, from their exact mass functions."""

from jali.mechanisms.laws.gaussian import DiscreteGaussianLaw
from jali.mechanisms.laws.laplace import DiscreteLaplaceLaw
from jali.mechanisms.laws.law import Law

__all__ = ["DiscreteGaussianLaw", "DiscreteLaplaceLaw", "Law"]
