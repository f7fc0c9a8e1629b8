from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ledger.support import clinic

from jali.ledger import SqliteLedger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "clinic.jali"


@pytest.fixture(params=["file", "memory"])
def ledger(request: pytest.FixtureRequest, path: Path) -> Iterator[SqliteLedger]:
    """A ledger with three accounts, sound at the end of every test."""
    with SqliteLedger(path if request.param == "file" else None) as made:
        yield clinic(made)
        assert made.verify().problems == ()
