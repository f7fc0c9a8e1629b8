"""Statistics of a column with their local and smooth sensitivity."""
