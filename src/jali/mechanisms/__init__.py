"""Mechanisms: one per file, each with its loss, its error law and its exact release. No database needed."""

from jali.mechanisms.additive import Additive
from jali.mechanisms.gaussian import Gaussian
from jali.mechanisms.laplace import Laplace

MECHANISMS: tuple[type[Additive], ...] = (Laplace, Gaussian)

__all__ = ["MECHANISMS", "Additive", "Gaussian", "Laplace"]
