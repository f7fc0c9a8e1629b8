"""Applications of selection, as functions on plain data: which, how many of the best, and at what price."""
