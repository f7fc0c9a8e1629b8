"""Linear regression, released privately."""
