"""Exact samplers from random bits: integers in, integers out, without floating-point noise."""

from jali.sampling.bernoulli import bernoulli, bernoulli_exp, bernoulli_exp_array
from jali.sampling.bits import BitSource, KeyedBits, OperatingSystemBits, system_bits
from jali.sampling.discrete_gaussian import DiscreteGaussian
from jali.sampling.discrete_laplace import DiscreteLaplace, Geometric

__all__ = [
    "BitSource",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Geometric",
    "KeyedBits",
    "OperatingSystemBits",
    "bernoulli",
    "bernoulli_exp",
    "bernoulli_exp_array",
    "system_bits",
]
