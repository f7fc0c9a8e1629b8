"""The command line: decode, call the database, encode. Every verb is a file."""

from jali.cli.app import main

__all__ = ["main"]
