"""Searches for numbers."""
