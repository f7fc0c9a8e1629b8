"""Mechanisms that choose a candidate with a high score."""
