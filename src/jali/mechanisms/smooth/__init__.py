"""Smooth sensitivity: noise calibrated to the data at hand, and the statistics and noises it is made of."""
