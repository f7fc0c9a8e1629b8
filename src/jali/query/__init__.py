"""The question: SQL or builder to frozen nodes, and the catalog they are read against."""
