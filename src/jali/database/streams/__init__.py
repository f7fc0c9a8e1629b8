"""Durable streams of a database: declared, made, appended to, published."""

from jali.database.streams.streams import Streams

__all__ = ["Streams"]
