"""Exact numbers, directed rounding, quadrature and searches for numbers."""
