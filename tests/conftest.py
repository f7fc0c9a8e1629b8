"""What holds for all tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings
from tests.depth import DEPTH
from tests.reused import reused_instances

# No test may fail because the machine is busy. There are ten thousands of them: deep runs draw more of each.
settings.register_profile("patient", deadline=None, max_examples=20 * DEPTH)
settings.load_profile("patient")


# Tests, plans and laws that stay make every search for garbage long: a tenth of the whole run.
gc.set_threshold(100_000, 50, 100)


def pytest_collection_finish() -> None:
    """Never look for garbage among what was collected: it stays to the end."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let libraries take everything down that they count."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def few_instances_of_duckdb() -> Iterator[None]:
    """Give DuckDB one thread, as each worker has a core, and open it seldom.

    Deep runs leave DuckDB as people have it.
    """
    if DEPTH > 1:
        yield
        return
    with reused_instances():
        yield
