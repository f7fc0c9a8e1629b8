"""Sparse vector: many questions about a threshold, paid for by the few whose answer is yes."""
