"""Workloads of linear queries on a histogram, and the mechanisms that answer them together."""
