"""From answers to bits."""
