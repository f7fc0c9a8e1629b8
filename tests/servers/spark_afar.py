"""Sparks in processes of their own, on this machine: a server of Spark Connect, and a cluster with one worker."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.servers.ports import HOST, free_port, listens
from tests.servers.spark import is_installed

MISSING = "Spark Connect needs the packages of pyspark[connect], and Java 17"
_PATIENCE = 120.0
_QUIET = ("spark.ui.enabled=false", "spark.log.level=OFF", f"spark.driver.host={HOST}")


def is_connectable() -> bool:
    """Say whether the client of Spark Connect is there as well."""
    return is_installed() and all(importlib.util.find_spec(name) for name in ("grpc", "grpc_status", "zstandard"))


@contextmanager
def running_connect(folder: Path) -> Iterator[str]:
    """Start a server of Spark Connect on this machine, and give its address."""
    port = free_port()
    settings = (
        *_QUIET,
        f"spark.connect.grpc.binding.address={HOST}",
        f"spark.connect.grpc.binding.port={port}",
        f"spark.sql.warehouse.dir={folder / 'warehouse'}",
        "spark.default.parallelism=1",
        # A question of a few rows is compiled and planned far longer than it runs.
        "spark.sql.shuffle.partitions=1",
        "spark.sql.codegen.wholeStage=false",
        "spark.sql.codegen.factoryMode=NO_CODEGEN",
    )
    chosen = [word for setting in settings for word in ("--conf", setting)]
    server = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal")
    with _running(["spark-submit", "--master", "local[1]", *chosen, *server], folder, port):
        yield f"sc://{HOST}:{port}"


@contextmanager
def running_cluster(folder: Path) -> Iterator[str]:
    """Start a cluster, a master and one worker, and give its address."""
    port, deploy = free_port(), "org.apache.spark.deploy"
    address = f"spark://{HOST}:{port}"
    place = ["--host", HOST, "--webui-port", "0"]
    worker = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work")]
    with ExitStack() as stack:
        master = ["spark-class", f"{deploy}.master.Master", *place, "--port", str(port)]
        stack.enter_context(_running(master, folder, port))
        own = free_port()
        helping = ["spark-class", f"{deploy}.worker.Worker", *place, "--port", str(own), *worker, address]
        stack.enter_context(_running(helping, folder, own))
        yield address


@contextmanager
def _running(command: Sequence[str], folder: Path, port: int) -> Iterator[None]:
    """Run one of Spark's programs until the block ends; begin when it listens."""
    import pyspark

    home = Path(pyspark.__file__).parent
    # Programs that find no hadoop native code, and the like, say so on the error stream.
    process = subprocess.Popen(
        [str(home / "bin" / command[0]), *command[1:]],
        cwd=folder,
        env={**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": HOST, "SPARK_NO_DAEMONIZE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port, process)
        yield
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE
    while not listens(port):
        assert process.poll() is None, "a program of Spark ended early"
        assert time.monotonic() < end, "a program of Spark does not listen"
        time.sleep(0.1)
