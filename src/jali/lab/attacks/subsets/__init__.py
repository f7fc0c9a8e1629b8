"""Describe questions as subsets: which people each of them counts."""
