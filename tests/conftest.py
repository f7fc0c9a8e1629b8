"""What holds for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings
from tests.depth import DEPTH
from tests.reused import reused_instances

# No test may fail because the machine is busy.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


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
