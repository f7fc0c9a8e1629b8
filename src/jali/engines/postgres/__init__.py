"""Postgres: questions are computed where the tables are. Nothing is written there, and no row leaves it."""

from jali.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
