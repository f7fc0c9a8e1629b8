"""Random real numbers that are drawn exactly, to as many digits as a decision needs."""

from jali.sampling.reals.laplace_log_normal import (
    gaussian,
    gaussian_law,
    laplace,
    laplace_law,
    laplace_log_normal,
    laplace_log_normal_law,
)
from jali.sampling.reals.lattice_points import nearest_sample
from jali.sampling.reals.polynomial_tails import poly_place, poly_place_law, polynomial, polynomial_law
from jali.sampling.reals.real import Enclosure, Law, Real, nearest
from jali.sampling.reals.student_t import cauchy, cauchy_law, student_t, student_t_law

__all__ = [
    "Enclosure",
    "Law",
    "Real",
    "cauchy",
    "cauchy_law",
    "gaussian",
    "gaussian_law",
    "laplace",
    "laplace_law",
    "laplace_log_normal",
    "laplace_log_normal_law",
    "nearest",
    "nearest_sample",
    "poly_place",
    "poly_place_law",
    "polynomial",
    "polynomial_law",
    "student_t",
    "student_t_law",
]
