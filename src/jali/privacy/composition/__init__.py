"""Composition theorems, and the search for the tightest one that is valid."""
