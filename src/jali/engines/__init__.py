"""Engines: each runs one exact integer aggregate, and says nothing else about the data."""

from jali.engines.base import Engine

__all__ = ["Engine"]
