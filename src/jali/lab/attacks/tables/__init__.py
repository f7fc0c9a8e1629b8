"""Reconstruct the people of a census block from tables that were published about them."""
