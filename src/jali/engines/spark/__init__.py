"""Spark: tables that outgrow one machine, in Parquet or in Spark's catalog."""

from jali.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
