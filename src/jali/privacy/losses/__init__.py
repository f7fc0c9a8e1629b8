"""Losses: one kind per file."""
