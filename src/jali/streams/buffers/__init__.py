"""Buffers: Toeplitz strategies whose every step needs a few numbers only."""
