"""Durable streams of a database: declared, created, appended to, published."""
