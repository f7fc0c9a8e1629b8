"""Tokens and the trail in the ledger: made, revoked at once, in the chain, and sound in files of every schema."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.earlier import downgrade
from tests.ledger.support import ask, clinic
from tests.ledger.test_streams import rechained

from jali.errors import LedgerError
from jali.ledger import Ledger, Role, SqliteLedger, Token

LATER = (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="seconds")
EARLIER = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="seconds")


def make(ledger: Ledger, id_: str = "a1", *, role: Role = Role.ANALYST, expires: str = LATER) -> Token:
    return ledger.access.create(id_=id_, name="ana", role=role, digest=f"digest of {id_}", expires=expires)


def test_a_token_is_found_as_it_was_made_and_the_ledger_has_its_digest_alone(ledger: Ledger) -> None:
    made = make(ledger)
    assert ledger.access.token("a1") == made
    assert (made.role, made.digest, made.state) == (Role.ANALYST, "digest of a1", "valid")
    assert ledger.access.token("a2") is None


def test_tokens_are_told_in_the_order_of_making(ledger: Ledger) -> None:
    assert ledger.access.tokens() == ()
    made = tuple(make(ledger, id_) for id_ in ("b", "a", "c"))
    assert ledger.access.tokens() == made


def test_a_revoked_token_is_revoked_in_every_process_and_stays_so(path: Path) -> None:
    with SqliteLedger(path) as one, SqliteLedger(path) as other:
        make(one)
        assert other.access.token("a1") is not None
        for _ in range(2):
            assert one.access.revoke("a1").revoked
        found = other.access.token("a1")
        assert found is not None
        assert (found.revoked, found.state) == (True, "revoked")
        assert [deed.act for deed in other.access.acts()] == ["token revoked", "token created"]


def test_a_token_that_is_not_there_cannot_be_revoked(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="There is no token zz"):
        ledger.access.revoke("zz")
    make(ledger)
    with pytest.raises(LedgerError, match="There is no token zz"):
        ledger.access.revoke("zz")


def test_an_expired_token_says_so(ledger: Ledger) -> None:
    made = make(ledger, expires=EARLIER)
    assert (made.expired(), made.state) == (True, "expired")
    assert made.expired(datetime.fromisoformat(EARLIER))
    assert not made.expired(datetime.fromisoformat(EARLIER) - timedelta(seconds=1))


def test_one_id_is_one_token(ledger: Ledger) -> None:
    make(ledger)
    with pytest.raises(LedgerError):
        make(ledger)
    assert len(ledger.access.tokens()) == 1


def test_the_trail_has_every_administrative_act_the_latest_first_and_no_question(ledger: Ledger) -> None:
    ask(ledger)
    ledger.declare("visits", "{}")
    ledger.access.act("cara", "grant", "ana on visits: epsilon 1")
    make(ledger, role=Role.CURATOR)
    trail = ledger.access.acts()
    assert [(deed.actor, deed.act, deed.about) for deed in trail[:3]] == [
        ("", "token created", "a1 for curator ana"),
        ("cara", "grant", "ana on visits: epsilon 1"),
        ("", "declared", "visits, version 1"),
    ]
    assert [deed.act for deed in trail[3:]] == ["budget opened"] * 3
    assert [deed.seq for deed in trail] == sorted((deed.seq for deed in trail), reverse=True)
    assert ledger.access.acts(2) == trail[:2]


def test_a_key_is_made_once_and_another_for_each_name_and_file(ledger: Ledger) -> None:
    first = ledger.access.key("cookies")
    assert len(first) == 32
    assert ledger.access.key("cookies") == first
    assert ledger.access.key("forms") != first
    with SqliteLedger(None) as other:
        assert other.access.key("cookies") != first


@pytest.mark.parametrize("older", [False, True])
def test_a_ledger_of_an_earlier_schema_gets_tokens_with_its_first_one(path: Path, older: bool) -> None:
    with SqliteLedger(path) as ledger:
        ledger.release(ask(clinic(ledger)), "42")
    if older:
        downgrade(path, 1)
    with SqliteLedger(path) as ledger:
        assert (ledger.access.tokens(), ledger.access.token("a1")) == ((), None)
        ledger.access.key("cookies")
        assert ledger.verify().problems == ()
        make(ledger)
    with SqliteLedger(path) as ledger:
        ask(ledger, key="another")
        assert len(ledger.access.tokens()) == 1
        assert ledger.verify().problems == ()


def lived(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        make(clinic(ledger))
        make(ledger, "b2", role=Role.CURATOR)
        ledger.access.revoke("a1")
        ledger.access.act("cara", "grant", "ana")


WAYS_IN = (
    "UPDATE tokens SET revoked = 0 WHERE id = 'a1'",
    "UPDATE tokens SET role = 'curator' WHERE id = 'a1'",
    "UPDATE tokens SET digest = 'mine' WHERE id = 'b2'",
    "UPDATE tokens SET expires = '2999-01-01T00:00:00+00:00' WHERE id = 'b2'",
    "UPDATE tokens SET digest = 'mine', revoked = 1 WHERE id = 'b2'",
    "DELETE FROM tokens WHERE id = 'a1'",
)


@pytest.mark.parametrize("statement", WAYS_IN)
def test_the_file_refuses_to_change_a_token(path: Path, statement: str) -> None:
    lived(path)
    with sqlite3.connect(path) as raw, pytest.raises(sqlite3.IntegrityError):
        raw.execute(statement)
    raw.close()


@pytest.mark.parametrize(
    "statement",
    [*WAYS_IN, "INSERT INTO tokens SELECT 99, 'c3', name, role, digest, expires, at, 0, 1 FROM tokens LIMIT 1"],
)
def test_verify_finds_a_token_that_went_past_the_triggers(path: Path, statement: str) -> None:
    lived(path)
    with sqlite3.connect(path) as raw:
        for (trigger,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f"DROP TRIGGER {trigger}")
        raw.execute(statement)
    raw.close()
    with SqliteLedger(path) as ledger:
        assert any("tokens" in problem for problem in ledger.verify().problems)


Entries = list[tuple[str, dict[str, Any]]]


def _twice(entries: Entries) -> None:
    entries.append(next(entry for entry in entries if entry[0] == "token"))


def _never_made(entries: Entries) -> None:
    entries.append(("revoke", {"token": "zz", "at": "now"}))


def _revoked_twice(entries: Entries) -> None:
    entries.append(next(entry for entry in entries if entry[0] == "revoke"))


def _no_role(entries: Entries) -> None:
    kind, body = next(entry for entry in entries if entry[0] == "token")
    entries.append((kind, body | {"token": "c3", "role": "king"}))


def _act_of_nobody(entries: Entries) -> None:
    entries.append(("act", {"act": "grant", "about": "ana", "at": "now"}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_twice, "a second time"),
        (_never_made, "never made"),
        (_revoked_twice, "revoked already"),
        (_no_role, "cannot be read"),
        (_act_of_nobody, "never writes"),
    ],
)
def test_entries_that_no_book_of_access_could_have_made_are_found(path: Path, change: Any, said: str) -> None:
    lived(path)
    rechained(path, change)
    with SqliteLedger(path, checked=False) as ledger:
        problems = ledger.verify().problems
    assert any(said in problem for problem in problems), problems
