"""Tokens of a database: shown once, kept as digests, refused when they are wrong, expired or revoked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.database.clinic import open_clinic

import jali
from jali.errors import CatalogError
from jali.execution.access_tokens import Access, TokenRefused
from jali.ledger import Role


@pytest.fixture
def access() -> Access:
    return jali.connect().access


def test_a_token_lets_its_owner_in(access: Access) -> None:
    made = access.create("ana", "analyst")
    assert access.check(made.text) == made.token == access.find_token(made.token.id)
    assert access.check(f"  {made.text}\n") == made.token
    assert (made.token.name, made.token.role) == ("ana", Role.ANALYST)


def test_no_two_tokens_are_equal(access: Access) -> None:
    texts = {access.create("ana", "analyst").text for _ in range(20)}
    assert len(texts) == 20
    assert all(len(text) > 50 for text in texts)


def test_the_secret_is_nowhere_in_the_file(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as db:
        secret = db.access.create("ana", "analyst").text.split("_", 2)[2]
    for file in tmp_path.iterdir():
        assert secret.encode() not in file.read_bytes()


@pytest.mark.parametrize("text", ["", "jali", "jali__", "jali_x_y", "open sesame", "jali_\ud800_x"])
def test_what_is_no_token_is_refused(access: Access, text: str) -> None:
    access.create("ana", "analyst")
    with pytest.raises(TokenRefused, match="The token is invalid"):
        access.check(text)


def test_a_token_with_another_secret_is_refused(access: Access) -> None:
    one, other = access.create("ana", "analyst"), access.create("ben", "curator")
    prefix, id_, _ = one.text.split("_", 2)
    for secret in (other.text.split("_", 2)[2], one.text.split("_", 2)[2][:-1], ""):
        with pytest.raises(TokenRefused, match="The token is invalid"):
            access.check(f"{prefix}_{id_}_{secret}")


def test_a_revoked_token_is_refused_at_once_and_others_are_not(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as db, jali.connect(tmp_path / "clinic.jali") as server:
        one, other = db.access.create("ana", "analyst"), db.access.create("ana", "analyst")
        assert server.access.check(one.text) == one.token
        db.access.revoke(one.token.id)
        with pytest.raises(TokenRefused, match="The token has been revoked"):
            server.access.check(one.text)
        with pytest.raises(TokenRefused, match="The token has been revoked"):
            server.access.find_token(one.token.id)
        assert server.access.check(other.text) == other.token


def test_an_expired_token_is_refused(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    made = access.create("ana", "analyst", days=1)
    assert datetime.fromisoformat(made.token.expires) <= datetime.now(UTC) + timedelta(days=1)
    tomorrow = datetime.now(UTC) + timedelta(days=1, seconds=2)
    monkeypatch.setattr("jali.ledger.access.datetime", _Stopped(tomorrow))
    with pytest.raises(TokenRefused, match="expired"):
        access.check(made.text)
    with pytest.raises(TokenRefused, match="expired"):
        access.find_token(made.token.id)


@dataclass
class _Stopped:
    """A clock that stands, and reads times as the real one does."""

    at: datetime
    fromisoformat = staticmethod(datetime.fromisoformat)

    def now(self, _zone: object) -> datetime:
        return self.at


@pytest.mark.parametrize(
    ("name", "role", "days", "told"),
    [
        ("ana", "king", 1, "'king' is not a role"),
        ("ana", "analyst", 0, "days must be between 1 and 3650"),
        ("ana", "analyst", 10**6, "days must be between 1 and 3650"),
        ("", "curator", 1, "needs a name"),
        ("a\nb", "curator", 1, "needs a name"),
        ("a" * 101, "curator", 1, "needs a name"),
        ("", "analyst", 1, "analyst"),
    ],
)
def test_wrong_wishes_have_a_remedy(access: Access, name: str, role: str, days: int, told: str) -> None:
    with pytest.raises(CatalogError, match=told) as caught:
        access.create(name, role, days=days)
    assert caught.value.remedy
    assert access.tokens() == ()
