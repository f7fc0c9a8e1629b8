"""Quantiles: one or many, on a public range or without one."""
