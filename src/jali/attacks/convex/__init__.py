"""Convex programs that find bits in noisy counts, and the laws of how many they find."""
