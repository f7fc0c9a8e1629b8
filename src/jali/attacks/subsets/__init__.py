"""Questions: which people each of them counts."""
