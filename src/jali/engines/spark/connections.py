"""Spark sessions of our own: they share a cluster and its catalog, and what is set in them changes no other.

No word of Spark's errors reaches a log: Spark quotes rows, and its Python side logs errors as they are raised.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from jali.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_ASKED_BY_US: ContextVar[bool] = ContextVar("asked by us", default=False)

P = ParamSpec("P")
T = TypeVar("T")


class _Silence(logging.Filter):
    """Drops what is logged while we ask. What others ask of Spark, in the same process, is theirs to log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a record is kept."""
        del record
        return not _ASKED_BY_US.get()


_SILENCE = _Silence()


def silence() -> None:
    """Keep Spark's errors out of the log, from now on, wherever `silent` code meets them."""
    from pyspark.logger import PySparkLogger

    for name in _LOGGERS:
        # Not by `logging`, which would make a logger that Spark cannot write to.
        PySparkLogger.getLogger(name).addFilter(_SILENCE)


def silent(action: Callable[P, T]) -> Callable[P, T]:
    """Let a function ask Spark without a word of its errors in the log."""

    @wraps(action)
    def ask(*args: P.args, **kwargs: P.kwargs) -> T:
        before = _ASKED_BY_US.set(True)
        try:
            return action(*args, **kwargs)
        finally:
            _ASKED_BY_US.reset(before)

    return ask


# All that could change what a query gives. The text of our queries means the same under ANSI mode, too.
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.runSQLOnFiles": "true",
    # The least and largest values that other writers note for a block of doubles leave out NaN. Spark would trust
    # them: whether the NaN of some people pass `x > 4` would depend on whether somebody of their block has a 5.
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.orc.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.orc.aggregatePushdown": "false",
    # Dates of old files would fail questions by themselves.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
    # A row more, or a folder more, may not change the type of a column.
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.adaptive.enabled": "true",
    # A prepared copy lies in buckets, each in one file, in the order of people: nothing is moved or sorted again.
    "spark.sql.sources.bucketing.enabled": "true",
    "spark.sql.sources.bucketing.autoBucketedScan.enabled": "true",
    "spark.sql.legacy.bucketedTableScan.outputOrdering": "true",
    # Rows are counted by person: a map for 65,536 of them, as usual, is full at once.
    "spark.sql.codegen.aggregate.fastHashMap.capacityBit": "20",
}
# By these a session of ours is told from one that a server made in its place.
_TOLD = ("spark.sql.parquet.filterPushdown", "spark.sql.session.timeZone")
# What a cluster is started with that is ours alone: nothing is shown, written or kept besides the answers.
_STARTED = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.log.level": "OFF",
    "spark.app.name": "jali",
}
_SHUFFLED = "spark.sql.shuffle.partitions"
# So many parts for each core: enough to spread the work, few enough to cost nothing.
_EACH = 2
# Waits of 50 ms, 200 ms and 0.8 s lie between so many tries and the first.
_TRIES = 3


def own_session(given: SparkSession) -> SparkSession:
    """Return a session beside a given one, with our settings."""
    found = given.newSession()
    _set(found)
    return found


def start(address: str) -> tuple[SparkSession, bool]:
    """Return a session on the cluster at an address, and whether the cluster's driver was started here.

    Raises:
        EngineError: if this process drives another cluster already: Spark has one for each process.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if address.startswith("sc://"):
        return _connect(address), True
    running: Any = SparkContext._active_spark_context
    if running is not None and running.master != address:
        raise EngineError("engine-away-spark-process", location=address)
    builder = SparkSession.builder.master(address)
    for name, value in ({} if running is not None else _STARTED).items():
        builder = builder.config(name, value)
    return own_session(builder.getOrCreate()), running is None


def _connect(address: str) -> Any:
    """Return a session by Spark Connect that is ours alone: a builder would hand it to whoever asks for one."""
    from pyspark.sql.connect.session import SparkSession

    found = SparkSession(connection=address)
    _set(found)  # type: ignore[arg-type]
    return found


def is_ours(session: SparkSession) -> bool:
    """Say whether a session is still there, with our settings: a server may have ended it, or begun again."""
    try:
        return is_here(session) or all(session.conf.get(name) == SETTINGS[name] for name in _TOLD)
    except Exception:
        return False


def end(session: Any) -> None:
    """Let go of a session of ours. A Spark that runs in this process is stopped; a server, never."""
    if is_here(session):
        session.stop()
        return
    with suppress(Exception):
        session.client.release_session()
    with suppress(Exception):
        session.client.close()


def is_here(session: SparkSession) -> bool:
    """Say whether Spark's driver is a process of ours, rather than a server that is reached by Spark Connect."""
    return hasattr(session, "_jsparkSession")


def _set(session: SparkSession) -> None:
    silence()
    if not is_here(session):
        _despair_soon(session)
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    if is_here(session):
        # With few rows the usual 200 parts cost more than the question.
        session.conf.set(_SHUFFLED, str(max(2, _EACH * session.sparkContext.defaultParallelism)))


def _despair_soon(session: Any) -> None:
    """Try a server that does not answer for some seconds: Spark Connect would go on for ten minutes."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session.client.set_retry_policies([DefaultPolicy(max_retries=_TRIES)])
