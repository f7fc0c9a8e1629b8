"""The catalog: what the curator declares about tables."""
