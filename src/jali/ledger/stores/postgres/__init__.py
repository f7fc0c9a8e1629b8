"""A schema of a Postgres database, for any number of machines."""
