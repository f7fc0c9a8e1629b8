"""Values of witnesses: whatever inputs hold is read back as it was written."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jali.errors import CatalogError
from jali.serialization.plain_values import of_plain, to_plain, upgrade_from_second

numbers = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
keys = st.integers() | st.text(max_size=3) | st.tuples(st.integers(), st.booleans())
values = st.recursive(
    numbers
    | st.fractions()
    | st.binary(max_size=4)
    | st.dates()
    | st.datetimes().map(lambda at: at.replace(fold=0)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=8,
)


def again(value: Any) -> Any:
    return of_plain(json.loads(json.dumps(to_plain(value), allow_nan=False)))


@given(values)
def test_inputs_round_trip(value: Any) -> None:
    assert again(value) == value
    assert repr(again(value)) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        math.inf,
        -math.inf,
        -0.0,
        10**400,
        -(10**5000),
        Decimal("1.10"),
        {1, 2},
        frozenset({"a", (1, 2)}),
        b"\x00\xff",
        date(2025, 1, 2),
        datetime(2025, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        {"float": "nan"},
        {(1, 2): [None, (True,)]},
    ],
    ids=lambda value: type(value).__name__,
)
def test_unusual_inputs_round_trip(value: Any) -> None:
    assert again(value) == value
    assert type(again(value)) is type(value)


def test_nan_and_arrays_round_trip() -> None:
    assert math.isnan(again(math.nan))
    for array in (np.array([[1.5, math.nan], [-0.0, math.inf]]), np.arange(3), np.array([True]), np.zeros((0, 2))):
        made = again(array)
        assert made.dtype == array.dtype
        np.testing.assert_array_equal(made, array)
    assert again(np.float64(0.1)) == 0.1


def test_what_no_file_can_hold_is_refused_by_name() -> None:
    with pytest.raises(CatalogError, match="cannot hold a object"):
        to_plain([object()])
    for plain in ({"moon": 1}, {"@": "moon", "value": 1}, {"@": "Fraction"}, {"@": [], "value": 1}):
        with pytest.raises(CatalogError, match="is not a valid value in a witness"):
            of_plain(plain)


# What version 2 wrote.
SECOND: list[tuple[Any, Any]] = [
    ({"tuple": [1, [{"float": "-inf"}, None]]}, (1, [-math.inf, None])),
    ({"integer": hex(-(10**400))}, -(10**400)),
    ({"fraction": "1/3"}, Fraction(1, 3)),
    ({"decimal": "1.10"}, Decimal("1.10")),
    ({"time": "2025-01-02T03:04:05+00:00"}, datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)),
    ({"date": "2025-01-02"}, date(2025, 1, 2)),
    ({"bytes": "00ff"}, b"\x00\xff"),
    ({"set": [1, 2]}, {1, 2}),
    ({"frozen set": [{"tuple": [1, 2]}]}, frozenset({(1, 2)})),
    ({"dictionary": [["a", 2.5], [{"tuple": [1]}, {"dictionary": []}]]}, {"a": 2.5, (1,): {}}),
    ([1, "a", True], [1, "a", True]),
]


@pytest.mark.parametrize(("plain", "value"), SECOND, ids=lambda one: type(one).__name__)
def test_values_of_version_2_are_read(plain: Any, value: Any) -> None:
    assert of_plain(upgrade_from_second(plain)) == value
    assert upgrade_from_second(plain) == to_plain(value)


def test_arrays_of_version_2_are_read() -> None:
    second = {"array": {"of": "<f8", "shape": [2, 2], "values": [1.5, {"float": "nan"}, 0.0, {"float": "inf"}]}}
    np.testing.assert_array_equal(
        of_plain(upgrade_from_second(second)), np.array([[1.5, math.nan], [0.0, math.inf]])
    )
