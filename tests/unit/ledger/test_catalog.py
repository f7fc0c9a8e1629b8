"""Declarations and their versions."""

from __future__ import annotations

import pytest
from tests.ledger.support import TENTH, VISITS, ask

from jali.errors import CatalogError
from jali.ledger import Declaration, Ledger


def test_a_new_body_makes_a_new_version_and_the_same_body_changes_nothing(ledger: Ledger) -> None:
    assert ledger.declare("visits", "{}") == Declaration("visits", "{}", 1, 1)
    entries = ledger.verify().entries
    assert ledger.declare("visits", "{}").version == 1
    assert ledger.verify().entries == entries
    assert ledger.declare("visits", '{"unit": 1}').version == 2
    assert ledger.declare("visits", "{}").version == 3
    assert ledger.declaration("visits") == Declaration("visits", "{}", 3, 1)


def test_an_empty_body_can_be_declared(ledger: Ledger) -> None:
    assert ledger.declare("visits", "").version == 1
    assert ledger.declare("visits", "").version == 1


def test_refreshing_advances_the_data_version_and_resets_no_budget(ledger: Ledger) -> None:
    ledger.declare("visits", "{}")
    ask(ledger)
    assert ledger.refresh("visits") == Declaration("visits", "{}", 1, 2)
    assert ledger.declare("visits", "[]") == Declaration("visits", "[]", 2, 2)
    assert ledger.refresh("visits").data_version == 3
    assert ledger.spent(VISITS) == TENTH


def test_what_was_not_declared_cannot_be_refreshed(ledger: Ledger) -> None:
    with pytest.raises(CatalogError, match="visits"):
        ledger.refresh("visits")
    assert ledger.declaration("visits") is None


def test_declarations_keep_the_order_of_their_first_version(ledger: Ledger) -> None:
    for name in ("visits", "wards", "drugs"):
        ledger.declare(name, "{}")
    ledger.declare("visits", "[]")
    assert [declaration.name for declaration in ledger.declarations()] == ["visits", "wards", "drugs"]
