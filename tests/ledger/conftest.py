from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.ledger.support import clinic
from tests.servers.postgres import Postgres

from jali.ledger import Ledger, open_ledger

Open = Callable[[], Ledger]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "clinic.jali"


@pytest.fixture
def address(postgres: Postgres) -> str:
    """A schema without a ledger in a Postgres that runs."""
    return f"{postgres.url}?schema=test_{secrets.token_hex(6)}"


def place_of(store: str, request: pytest.FixtureRequest) -> Path | str | None:
    """Return the place of a ledger in a store; Postgres is started by the first test that needs it."""
    if store == "memory":
        return None
    found: Path | str = request.getfixturevalue("path" if store == "file" else "address")
    return found


@pytest.fixture(params=["file", "memory", "postgres"])
def ledger(request: pytest.FixtureRequest) -> Iterator[Ledger]:
    """A ledger with three accounts, sound at the end of every test."""
    with open_ledger(place_of(request.param, request)) as made:
        yield clinic(made)
        assert made.verify().problems == ()


@pytest.fixture(params=["file", "postgres"])
def opened(request: pytest.FixtureRequest) -> Open:
    """What opens one ledger again and again, in any process."""
    place = place_of(request.param, request)
    return lambda: open_ledger(place)
