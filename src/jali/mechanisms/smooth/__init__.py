"""Smooth sensitivity: statistics, admissible noises, and the mechanism that joins them."""
