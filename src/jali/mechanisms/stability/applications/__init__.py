"""Applications of stability, as functions on plain data: an exact answer, where it does not change nearby."""
