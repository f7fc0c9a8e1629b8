"""Random real numbers that are drawn as precisely as a question needs, and exactly."""

from jali.noise.reals.gaussian import gaussian, gaussian_law
from jali.noise.reals.laplace import laplace, laplace_law
from jali.noise.reals.law import Law
from jali.noise.reals.poly_place import poly_place, poly_place_law
from jali.noise.reals.polynomial import polynomial, polynomial_law
from jali.noise.reals.product import laplace_log_normal, laplace_log_normal_law
from jali.noise.reals.real import Enclosure, Real, nearest
from jali.noise.reals.sample import nearest_sample
from jali.noise.reals.student_t import cauchy, cauchy_law, student_t, student_t_law

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
