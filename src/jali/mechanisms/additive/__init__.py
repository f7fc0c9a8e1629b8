"""Mechanisms that add noise, and the exact laws of their noise."""
