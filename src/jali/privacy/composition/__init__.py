"""Composition: one theorem per file, and the search for the tightest that is valid."""
