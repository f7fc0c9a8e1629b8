"""Where a ledger is kept: in a SQLite file or in Postgres, behind one protocol."""
