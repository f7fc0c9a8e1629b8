from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.serving import Place, served


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with served(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One server for tests that leave nothing behind that another would see."""
    with served(tmp_path_factory.mktemp("clinic")) as made:
        yield made
