"""Privacy losses, one kind in each module."""
