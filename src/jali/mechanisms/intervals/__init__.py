"""Quantiles and confidence intervals of combinations of noisy values.

Everything here is post-processing: it reads released numbers and the public laws of their noise.
"""
