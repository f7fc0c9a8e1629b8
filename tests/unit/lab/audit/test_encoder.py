"""Outputs as rows of doubles: nothing that a reader can see is lost, and rows mean the same in every batch."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jali.errors import CatalogError
from jali.lab.audit.audit_report import put_in_words
from jali.lab.audit.encoder import Encoder
from jali.lab.audit.events.output_event import Atom, Threshold
from jali.lab.audit.flatten import MOST_ITEMS, LeafKind, Raised, flatten, hash_text


@dataclass(frozen=True)
class Point:
    x: float
    label: str


# Outputs that all look different to whoever reads them.
DIFFERENT: list[Any] = [
    0.0,
    -0.0,
    1.0,
    1,
    True,
    math.nan,
    math.inf,
    -math.inf,
    math.nextafter(1.0, 2),
    5e-324,
    2**60,
    2**60 + 1,
    10**400,
    -(10**400),
    Fraction(1, 3),
    Decimal("0.1"),
    Decimal("NaN"),
    None,
    "1",
    "",
    b"1",
    1 + 2j,
    (),
    [],
    {},
    set(),
    (1,),
    [1],
    [1, 2],
    [2, 1],
    [[1], 2],
    np.array([1, 2]),
    {"a": 1},
    {"b": 1},
    {"a": 1, "b": 2},
    {"b": 2, "a": 1},
    {1},
    Point(1.0, "a"),
    Point(1.0, "b"),
    Raised("ValueError"),
    Raised("KeyError"),
]


def _bits(row: Any) -> bytes:
    """Return every bit of a row; there is one NaN only."""
    made = np.array(row, np.float64)
    made[np.isnan(made)] = np.nan
    return made.tobytes()


def test_outputs_that_look_different_have_different_rows() -> None:
    rows = {_bits(row): place for place, row in enumerate(Encoder.fit(DIFFERENT).encode(DIFFERENT))}
    # A decimal NaN reads as NaN.
    assert len(rows) == len(DIFFERENT) - 1


@pytest.mark.parametrize("pilot", [["yes", "no"], [[1.0], [1.0, 2.0]], [None, 0.5], [{"a": 1}, {}]])
def test_what_the_pilot_never_saw_is_still_told_apart(pilot: list[Any]) -> None:
    encoder = Encoder.fit(pilot)
    rows = encoder.encode(
        [*pilot, Raised("ValueError"), Raised("KeyError"), [1.0, 2.0, 3.0], [1.0, 2.0, 4.0], "new"]
    )
    assert len({_bits(row) for row in rows}) == len(rows)
    assert (rows[: len(pilot), -1] == 0).all()
    assert (rows[len(pilot) :] != 0).any(axis=1).all()


@given(st.lists(st.floats(), min_size=1, max_size=20), st.lists(st.floats(), min_size=1, max_size=20))
def test_a_float_keeps_every_bit(pilot: list[float], later: list[float]) -> None:
    rows = Encoder.fit(pilot).encode(later)
    finite = [place for place, value in enumerate(later) if math.isfinite(value)]
    kept = [struct.pack("d", rows[place, 0]) for place in finite] if rows.shape[1] else []
    # A pilot of nothing but NaN has no column for a number.
    if any(not math.isnan(value) for value in pilot):
        assert kept == [struct.pack("d", later[place]) for place in finite]


def test_plain_numbers_are_their_own_rows() -> None:
    assert Encoder.fit([0.5, 1.5]).encode([2.5, math.nan, -math.inf]).tolist()[0] == [2.5, 0.0, 0.0]
    assert Encoder.fit([(1, 2.0, True)]).columns == ("item 1", "item 2", "item 3", "other kinds", "anything else")
    assert Encoder.fit([[0.5, 1.5]]).encode([[1.0, 2.0]]).tolist() == [[1.0, 2.0, 0.0, 0.0]]
    rows = Encoder.fit([0.5]).encode([math.inf, -math.inf, math.nan, "what", [1.0]])
    assert rows[:2, 0].tolist() == [math.inf, -math.inf]
    assert np.isnan(rows[2:, 0]).all()


def test_arrays_of_different_types_are_read_one_by_one() -> None:
    outputs = [np.array([0, 0]), np.array([0, 2**63])]
    encoder = Encoder.fit(outputs[1:])
    apart = np.concatenate([encoder.encode([one, "no number"])[:1] for one in outputs])
    assert _bits(encoder.encode(outputs)) == _bits(apart)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_reading_a_batch_at_once_gives_the_rows_of_reading_one_by_one(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([st.floats(), st.integers(), st.booleans()]))
    width = data.draw(st.integers(0, 3))
    collections: list[Callable[[Any], Any]] = [list, tuple, np.array]
    held = data.draw(st.sampled_from(collections))
    output: st.SearchStrategy[Any] = st.lists(kind, min_size=width, max_size=width).map(held) if width else kind
    pilot, later = (data.draw(st.lists(output, min_size=1, max_size=5)) for _ in range(2))
    encoder = Encoder.fit(pilot)
    together = encoder.encode(later)
    apart = np.concatenate([encoder.encode([one, "no number"])[:1] for one in later])
    assert _bits(together) == _bits(apart)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
@pytest.mark.parametrize("shape", [(6,), (6, 3), (6, 2, 2)])
def test_an_array_of_outputs_is_encoded_as_its_rows_are(dtype: str, shape: tuple[int, ...]) -> None:
    made = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    encoder = Encoder.fit(list(made[:3]))
    assert encoder.encode(made).tolist() == [[*(float(x) for x in one.ravel()), 0.0, 0.0] for one in made]


def test_integers_and_rationals_keep_what_no_double_holds() -> None:
    values: list[int | Fraction] = [2**60 + 1, 2**60 + 2, 3**60, Fraction(1, 3)]
    encoder = Encoder.fit(values)
    for value, row in zip(values, encoder.encode(values), strict=True):
        total = Fraction(float(row[0])) + Fraction(float(row[1]))
        assert abs(total - value) <= abs(Fraction(value)) / 2**100
    assert encoder.columns[:2] == ("the output", "low part of the output")
    wide = np.longdouble(1) + np.finfo(np.longdouble).eps
    leaf = flatten(wide)["the output"]
    assert Fraction(leaf.number) + Fraction(leaf.remainder) == 1 + Fraction(float(np.finfo(np.longdouble).eps))


def test_huge_integers_are_cut_to_a_double_and_marked() -> None:
    row = Encoder.fit([1, 10**400]).encode([10**400, -(10**400), 5])
    assert row[:, 0].tolist() == [sys.float_info.max, -sys.float_info.max, 5.0]
    assert row[:, 1].tolist() == [LeafKind.HUGE, LeafKind.HUGE, LeafKind.INTEGER]


def test_an_output_that_comes_again_has_the_same_row() -> None:
    encoder = Encoder.fit(DIFFERENT)
    many = [output for output in DIFFERENT for _ in range(3)] + [f"text {i}" for i in range(1100)]
    one_by_one = [_bits(encoder.encode([output])) for output in many]
    assert [_bits(row) for row in encoder.encode(many)] == one_by_one
    unwritable = [lambda: 0, lambda: 0]
    assert len(encoder.encode(unwritable)) == 2


def test_an_error_is_known_by_its_type_alone() -> None:
    one, other = (Raised.of(ValueError(text)) for text in ("at 0x7f", "at 0x8f"))
    assert one == other != Raised.of(KeyError("at 0x7f"))
    encoder = Encoder.fit([0.5, one])
    row = encoder.encode([one])[0]
    assert encoder.describe(encoder.columns.index("text of the output"), row[1]) == "'ValueError'"
    assert encoder.describe(encoder.columns.index("kind of the output"), row[2]) == "raised"


def test_events_are_told_in_the_words_of_the_outputs() -> None:
    encoder = Encoder.fit([["T"], ["B", 0.5]])
    atom = Atom((tuple(encoder.encode([["B", 0.5]])[0].tolist()),))
    assert (
        put_in_words(atom, encoder)
        == "the output has length of the output 2, item 1 'B', item 2 0.5, kind of item 2 float"
    )
    assert put_in_words(Threshold(0, 2.0), encoder) == "length of the output is at least 2"
    assert put_in_words(Threshold(0, 2.0), None) == "number 1 of the output is at least 2"
    assert put_in_words(Threshold(0, 2.0), Encoder.fit([0.5])) == "the output is at least 2"
    # A number that happens to be the hash of a text is a number all the same.
    assert Encoder.fit([["T", 0.5]]).describe(1, hash_text("T")) == f"{hash_text('T'):g}"


def test_keys_and_members_have_a_column_each_whichever_are_there() -> None:
    encoder = Encoder.fit([{"a": 1.5, "b": 2.5}, {"b": 3.5}])
    rows = encoder.encode([{"b": 3.5}, {"a": 1.5, "b": 2.5}])
    values = rows[:, [encoder.columns.index(f"key {key!r}") for key in "ab"]]
    assert values.tolist() == [[0.0, 3.5], [1.5, 2.5]]
    assert rows[:, encoder.columns.index("length of the output")].tolist() == [1.0, 2.0]
    assert rows[:, encoder.columns.index("kind of key 'a'")].tolist() == [LeafKind.ABSENT, LeafKind.FLOAT]
    members = Encoder.fit([{"x"}, {"x", "y"}])
    assert "kind of member 'y'" in members.columns
    assert "kind of member 'x'" not in members.columns


def test_the_order_of_keys_is_an_output_where_it_changes() -> None:
    forwards, backwards = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert Encoder.fit([forwards]).encode([forwards, backwards])[:, 0].tolist() != [1.0, 1.0]
    assert "order of keys of the output" in Encoder.fit([forwards, backwards]).columns


def test_the_tail_of_a_long_list_is_one_hash_and_its_length() -> None:
    long = list(range(MOST_ITEMS + 10))
    changed = [*long[:-1], 0]
    encoder = Encoder.fit([long])
    assert encoder.width == MOST_ITEMS + 3
    assert encoder.cuts
    assert not Encoder.fit([long[:MOST_ITEMS]]).cuts
    one, other, same = encoder.encode([long, changed, list(long)])
    assert _bits(one) == _bits(same) != _bits(other)


@pytest.mark.parametrize("pilot", [[0.5, 1.5], [1, 2], [[0.5, 1.0], [1.5, 2.0]], ["yes", "no"]])
def test_kinds_that_the_pilot_never_saw_have_a_column_that_tells_them_apart(pilot: list[Any]) -> None:
    new = [None, "n/a", Raised("ValueError"), Raised("KeyError"), math.nan, -0.0, True, Fraction(1, 3)]
    encoder = Encoder.fit(pilot)
    kinds = encoder.encode(new)[:, encoder.columns.index("other kinds")]
    odd = [
        code for code, output in zip(kinds, new, strict=True) if output != "n/a" or not isinstance(pilot[0], str)
    ]
    assert (np.array(odd) >= 1).all()
    assert len(set(odd)) == len(odd)
    # Fitted to the same, every process has the same codes.
    assert Encoder.read(str(encoder)).encode(new)[:, -2].tolist() == kinds.tolist()
    assert (encoder.encode(pilot)[:, -2:] == 0).all()


def test_an_integer_among_floats_is_of_another_kind_whatever_its_value() -> None:
    encoder = Encoder.fit([0.5])
    rows = encoder.encode([1.0, 1, 2])
    assert rows[:, 0].tolist() == [1.0, 1.0, 2.0]
    assert rows[0, 1] == 0 != rows[1, 1] == rows[2, 1]
    assert encoder.describe(1, rows[1, 1]) == "the output is integer"
    # In an array all at once, too.
    zeros = encoder.encode(np.array([0.0, -0.0, math.nan, 1.0]))[:, 1]
    assert (zeros != 0).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("output", "place", "number"),
    [
        ("12.5", "number 1 in the output", 12.5),
        ("-3", "number 1 in the output", -3.0),
        ("the sum is 1.25, of 7", "number 2 in the output", 7.0),
        ('{"sum": 0.5}', "key 'sum' of JSON in the output", 0.5),
        (b"0.75", "number 1 in the output", 0.75),
        (np.float64(math.pi).tobytes(), "double 1 in the output", math.pi),
        (np.int64(-7).tobytes(), "integer 1 in the output", -7.0),
        (1.5 + 2j, "imaginary part of the output", 2.0),
        (["a", "x = 4"], "number 1 in item 2", 4.0),
    ],
)
def test_numbers_in_texts_and_bytes_are_columns_beside_their_identity(
    output: Any, place: str, number: float
) -> None:
    assert flatten(output)[place].number == number
    encoder = Encoder.fit([output])
    assert encoder.encode([output])[0, encoder.columns.index(place)] == number


@pytest.mark.parametrize("text", ["", "yes", "a1b2", "{no json", "[" * 10_000, "ward3"])
def test_texts_without_numbers_are_known_by_their_identity_alone(text: str) -> None:
    assert list(flatten(text)) == ["the output"]


def test_an_encoder_survives_being_written() -> None:
    encoder = Encoder.fit(DIFFERENT)
    again = Encoder.read(str(encoder))
    assert again == encoder
    assert _bits(again.encode(DIFFERENT)) == _bits(encoder.encode(DIFFERENT))
    with pytest.raises(CatalogError, match="is not an output encoder"):
        Encoder.read("{}")


def test_texts_have_the_same_hash_in_every_process() -> None:
    script = "from jali.lab.audit.flatten import hash_text; print(hash_text('répondu'))"
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert float(told) == hash_text("répondu")
    assert 0 <= hash_text("répondu") < 2**48


def test_columns_of_other_packages_and_objects_are_read_as_plain_values() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([0.5, 1.5], index=["a", "b"])
    assert flatten(series)["key 'b'"].number == 1.5
    assert flatten(Point(0.5, "a"))["key 'x'"].number == 0.5
    assert flatten(object()) == flatten(object())
    looped: list[Any] = []
    looped.append(looped)
    assert len(flatten(looped)) < 20
