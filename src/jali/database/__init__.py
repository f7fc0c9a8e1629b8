"""The database: catalog, ledger and engine. The only place where data, budget and randomness meet."""

from jali.database.accounts import Account, Remaining
from jali.database.asking import Stage
from jali.database.database import Database, connect

__all__ = ["Account", "Database", "Remaining", "Stage", "connect"]
