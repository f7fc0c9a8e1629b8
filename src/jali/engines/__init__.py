"""Engines: each runs one exact integer aggregate, and says nothing else about the data."""

from jali.engines.protocol import Engine

__all__ = ["Engine"]
