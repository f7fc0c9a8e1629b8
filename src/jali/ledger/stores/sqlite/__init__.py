"""One SQLite file, or memory, for one machine."""
