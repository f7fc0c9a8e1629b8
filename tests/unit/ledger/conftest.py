"""Ledgers in memory, in a file and in Postgres."""

from __future__ import annotations

from tests.ledger.conftest import address, ledger, path

__all__ = ["address", "ledger", "path"]
