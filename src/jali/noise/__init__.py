"""Random bits and exact samplers: integers in, integers out, no float noise anywhere."""

from jali.noise.bernoulli import bernoulli, bernoulli_exp, bernoulli_exp_array
from jali.noise.bits import BitSource, KeyedBits, OperatingSystemBits, system_bits
from jali.noise.gaussian import DiscreteGaussian
from jali.noise.geometric import Geometric
from jali.noise.laplace import DiscreteLaplace

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
