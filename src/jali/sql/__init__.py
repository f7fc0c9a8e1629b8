"""SQL text to nodes, and nodes back to text."""
