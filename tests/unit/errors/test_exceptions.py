"""Errors as data: fields, JSON, copies, and how they are written for each face."""

from __future__ import annotations

import copy
import datetime
import json
import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from jali.errors import (
    BudgetExceeded,
    CatalogError,
    EngineError,
    Face,
    Fit,
    JaliError,
    LedgerError,
    MechanismError,
    Phrase,
    QueryError,
    Shown,
    Unsupported,
)
from jali.errors.fields import Field, decode_field, encode_field
from jali.errors.templates import write

FIT = Fit("without ward", "epsilon", Fraction(1, 3), forecasts=(("n", "± 3"),), within=(("n", 3.0),))
EXCEEDED = BudgetExceeded("visits", kind="epsilon", requested=Fraction(1), remaining=Fraction(1, 3), fits=(FIT,))
UNKNOWN = QueryError(
    "column-unknown", position=(1, 8), table="visits", column="agee", nearest="age", columns=("age", "ward")
)
ERRORS = (
    UNKNOWN,
    EXCEEDED,
    Unsupported(
        "keys-undeclared", column="ward", declaration=Phrase("keys-to-declare", column="ward", name="ward")
    ),
    CatalogError("range-empty", low=Fraction(3), high=datetime.date(2024, 2, 29)),
    EngineError("engine-failed").replace(advice=Phrase("receipt-stays-open", receipt="abc")),
    LedgerError("ledger-damaged", damage=Phrase("damage-account-missing", account="visits")),
    MechanismError("keys-repeated"),
)


def test_an_error_says_where_what_and_what_to_do() -> None:
    assert str(UNKNOWN) == (
        "line 1, column 8: Table visits has no column agee. Did you mean age? Its columns are age, ward. "
        "Text takes single quotes: 'agee'."
    )
    assert UNKNOWN.message == "Table visits has no column agee."
    assert (UNKNOWN.code, UNKNOWN.fields["column"]) == ("column-unknown", "agee")


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_an_error_survives_pickle_copy_and_json(error: JaliError) -> None:
    told = json.loads(json.dumps({name: encode_field(value) for name, value in error.fields.items()}))
    fields = {name: decode_field(value) for name, value in told.items()}
    assert fields == error.fields
    for other in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert (other.code, other.fields, other.position) == (error.code, error.fields, error.position)
        assert str(other) == str(error)
    again = type(error)(error.code, position=error.position, **fields) if error is not EXCEEDED else error
    assert str(again) == str(error)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, 0.5, "a", "", Fraction(-1, 3), datetime.date(2024, 2, 29), math.inf),
        *(datetime.datetime.fromisoformat("2024-02-29 12:30"), (), ("a", (1, Fraction(1, 2))), FIT),
        *(Shown("a", "A('a')"), Phrase("keys-to-declare", column="ward")),
    ],
    ids=repr,
)
def test_a_field_survives_json(value: Field) -> None:
    read = decode_field(json.loads(json.dumps(encode_field(value))))
    assert read == value
    assert repr(read) == repr(value)


def test_what_is_no_field_is_kept_as_it_is_written() -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd"

        def __repr__(self) -> str:
            return "Odd()"

    given: Any = Odd()
    error = CatalogError("key-not-int64", given=given)
    assert error.message == "A key must be a 64-bit integer, not odd."
    assert repr(error.fields["given"]) == "Odd()"
    assert CatalogError("file-missing", path=Path("visits.csv")).fields == {"path": "visits.csv"}


def test_errors_are_copied_with_other_fields_positions_and_classes() -> None:
    assert UNKNOWN.replace(column="wardd").fields["column"] == "wardd"
    assert UNKNOWN.at((2, 1)).position == (2, 1)
    other = MechanismError("keys-repeated").like(CatalogError)
    assert (type(other), other.code, other.message) == (
        CatalogError,
        "keys-repeated",
        "keys must all be different.",
    )


def test_advice_takes_the_place_of_the_remedy() -> None:
    advised = UNKNOWN.replace(advice=Phrase("receipt-stays-open", receipt="abc"))
    assert advised.message == UNKNOWN.message
    assert advised.remedy == "Receipt abc is reserved and stays open: redeem it once this is resolved."


def test_an_error_inside_another_is_written_in_its_place() -> None:
    error = QueryError("batch-question", position=UNKNOWN.position, question=3, problem=UNKNOWN.phrase)
    assert error.message == f"Question 3 of the batch: {UNKNOWN.message}"
    assert error.remedy == UNKNOWN.remedy


@pytest.mark.parametrize("face", Face)
def test_every_face_writes_every_error(face: Face) -> None:
    for error in ERRORS:
        assert error.write(face).message


def test_a_code_of_a_later_version_is_written_as_itself() -> None:
    assert str(QueryError("not-yet-known", table="visits")) == "not-yet-known"
    assert write("not-yet-known", {}).remedy is None


def test_an_error_is_told_whatever_a_server_put_into_it() -> None:
    assert write("batch-size", {"most": "many"}).message == "A batch takes 1 to many questions, not ."
    assert write("within-out-of-reach", {"kind": "rho", "most": "1"}).message.startswith("No rho up to 1 reaches")
