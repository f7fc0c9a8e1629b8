"""Exact numbers, directed rounding and searches for numbers."""
