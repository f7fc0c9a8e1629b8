"""Additive noise: the mechanisms, one per file, and the exact laws of their noise."""
