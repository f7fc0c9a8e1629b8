"""Stored and transmitted values as JSON: each type has a tag and a version of its own."""
