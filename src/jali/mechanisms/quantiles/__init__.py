"""Mechanisms that release quantiles and means of a column."""
