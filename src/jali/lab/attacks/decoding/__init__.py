"""Decode answers into bits, and predict how many bits are right."""
