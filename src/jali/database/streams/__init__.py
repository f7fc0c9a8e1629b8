"""Durable streams of a database: declared, made, appended to, published."""
