"""Engines that are started once for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.servers.spark import MISSING, is_installed, running_spark


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session of a real Spark, one for each worker that has one of its tests."""
    if not is_installed():
        pytest.skip(MISSING)
    with running_spark() as session:
        yield session
