"""Stability: values that are released as they are, or nearly, where they do not change nearby."""
