"""How a server is set up: where it may be reached, and by which names."""

from __future__ import annotations

import pytest

from jali.errors import CatalogError
from jali.server.settings import Settings, is_loopback


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_loopback_is_told_from_the_rest(host: str, local: bool) -> None:
    assert is_loopback(host) is local
    assert Settings(host=host).local is local


def test_names_are_checked_on_loopback_and_where_some_are_given() -> None:
    assert "localhost" in Settings().host_names
    assert Settings(host="0.0.0.0").host_names == frozenset()
    assert "jali.example.org" in Settings(host="0.0.0.0", hosts=("Jali.Example.org",)).host_names


@pytest.mark.parametrize(
    "wrong", [{"workers": 0}, {"waiting": 0}, {"patience": -1}, {"body": 0}, {"rate": float("nan")}]
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(CatalogError, match=next(iter(wrong))):
        Settings(**wrong)  # type: ignore[arg-type]
