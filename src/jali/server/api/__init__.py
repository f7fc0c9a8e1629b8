"""The HTTP API under /api/v1: one module for each kind of thing."""
