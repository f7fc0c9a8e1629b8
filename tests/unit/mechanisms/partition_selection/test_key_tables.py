"""Tables of people per key: what is read, what is refused, and in which order keys come out."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.partition_selection.gaussian_threshold import GaussianThreshold
from jali.mechanisms.partition_selection.key_tables import canonicalize_key, people_per_key, sort_keys
from jali.mechanisms.partition_selection.laplace_threshold import LaplaceThreshold
from jali.mechanisms.partition_selection.optimal_keys import OptimalKeys

MECHANISMS: tuple[Any, ...] = (
    LaplaceThreshold(epsilon=1, delta=1e-6, adjacency="add-remove"),
    GaussianThreshold(rho=1, delta=1e-6, adjacency="add-remove"),
    OptimalKeys(epsilon=1, delta=1e-6, adjacency="add-remove"),
)
mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
MANY = 10**6


@mechanisms
def test_keys_come_out_in_an_order_that_the_table_does_not_decide(mechanism: Any) -> None:
    for order in permutations(["x", "b", "m"]):
        assert list(mechanism.release(dict.fromkeys(order, MANY))) == ["b", "m", "x"]
    mixed = [3, "a", (1, "b"), None, b"z"]
    first = list(mechanism.release(dict.fromkeys(mixed, MANY)))
    assert all(list(mechanism.release(dict.fromkeys(order, MANY))) == first for order in permutations(mixed))


@mechanisms
def test_keys_of_nobody_are_never_released(mechanism: Any) -> None:
    table = {"none": 0, "less": -MANY, "some": MANY}
    assert all(list(mechanism.release(table)) == ["some"] for _ in range(50))
    assert all(set(dict.fromkeys(o)) <= {"some"} for o in map(_keys, mechanism.sample(table, 200)))
    assert len(mechanism.release({})) == 0


@pytest.mark.parametrize(
    "mechanism",
    [
        LaplaceThreshold(epsilon="1/100", delta="2/5", adjacency="add-remove"),
        GaussianThreshold(rho="1/10000", delta="2/5", adjacency="add-remove"),
        OptimalKeys(epsilon="1/100", delta="2/5", adjacency="add-remove"),
    ],
    ids=lambda m: type(m).__name__,
)
def test_keys_of_nobody_are_not_released_where_noise_would_often_carry_them(mechanism: Any) -> None:
    """One person's key passes with a chance near 2/5; noise alone would release 50 empty ones with 1 - 1e-11."""
    assert sum(len(mechanism.release({"one": 1})) for _ in range(200)) > 20
    assert not any(mechanism.release({"none": 0, "less": -1}) for _ in range(50))
    assert not any(mechanism.sample({"none": 0, "less": -1}, 50))


def _keys(outcome: Any) -> list[str]:
    return [item if isinstance(item, str) else item[0] for item in outcome]


@mechanisms
def test_counts_beyond_64_bits_are_exact(mechanism: Any) -> None:
    released = mechanism.release({"huge": 1 << 70, "large": (1 << 63) + 5, "none": -(1 << 70)})
    assert list(released) == ["huge", "large"]
    if isinstance(released, dict):
        assert abs(released["huge"] - (1 << 70)) < 1000


@mechanisms
@pytest.mark.parametrize(
    "bad",
    [
        {"a": 1.5},
        {"a": "1"},
        {"a": None},
        [("a", 1)],
        {"a": True, "b": 0.5},
        {"a": [1, 2]},
        {"a": np.timedelta64(5, "s")},
    ],
)
def test_tables_of_a_wrong_type_are_refused(mechanism: Any, bad: Any) -> None:
    with pytest.raises(MechanismError, match="The value must"):
        mechanism.release(bad)


@mechanisms
def test_no_mixture_of_integers_fails(mechanism: Any) -> None:
    mixtures: list[tuple[Any, Any]] = [(1 << 63, -1), (1 << 63, (1 << 64) - 1), (np.int64(5), 1 << 65)]
    for counts in (*mixtures, (np.uint64(1 << 63), 1 << 62)):
        released = mechanism.release(dict(zip("ab", counts, strict=True)))
        assert {key for key, n in zip("ab", counts, strict=True) if n > MANY} <= set(released)


@mechanisms
def test_numpy_counts_are_read(mechanism: Any) -> None:
    table = dict(zip("ab", np.array([MANY, 0]), strict=True))
    assert list(mechanism.release(table)) == ["a"]


def test_a_noisy_count_is_a_plain_integer() -> None:
    for mechanism in MECHANISMS[:2]:
        (count,) = mechanism.release({"a": MANY}).values()
        assert type(count) is int


def test_texts_sort_as_they_are_and_others_by_type_and_form() -> None:
    assert sort_keys(["b", "a'", 'a"']) == ['a"', "a'", "b"]
    assert sort_keys([10, 9, "a", 2]) == [10, 2, 9, "a"]


def test_each_person_counts_for_so_many_keys_at_most_and_once_for_each() -> None:
    records = [(person, key) for person in range(50) for key in range(person % 7)] * 3
    for most in (1, 3, 10):
        table = people_per_key(records, max_keys=most)
        assert sum(table.values()) == sum(min(person % 7, most) for person in range(50))
        assert all(1 <= n <= 50 for n in table.values())
    whole = people_per_key(records, max_keys=10)
    assert whole == {key: sum(person % 7 > key for person in range(50)) for key in range(6)}


@pytest.mark.parametrize("reverse", [False, True])
def test_the_choice_of_keys_is_uniform_whatever_the_order_of_the_records(reverse: bool) -> None:
    """Chi-square over the 10 pairs among 5 keys, at a false-alarm rate of 1e-8."""
    records = [("ann", key) for key in "abcde"] + [("ann", "a")] * 20
    bits, draws = SeededBits(4), 4000
    ordered = records[::-1] if reverse else records
    seen = Counter(frozenset(people_per_key(ordered, max_keys=2, bits=bits)) for _ in range(draws))
    expected = draws / math.comb(5, 2)
    assert len(seen) == 10
    assert chi2.sf(sum((n - expected) ** 2 / expected for n in seen.values()), 9) > 1e-8


HUGE = 10**5000
ALIKE: list[tuple[Any, ...]] = [
    (1, 1.0, True, np.int8(1), np.float32(1), np.True_, Decimal("1.00"), Fraction(1), 1 + 0j),
    (0, 0.0, -0.0, False, Decimal("-0"), Decimal("0E+3"), np.float64(-0.0)),
    (0.5, Decimal("0.50"), Fraction(1, 2), np.float16(0.5)),
    (Decimal("0.1"), Decimal("0.10"), Fraction(1, 10)),
    (10**50, Decimal("1e50"), Fraction(10**50)),
    (HUGE, Decimal("1e5000"), Decimal("Infinity"), math.inf, Fraction(HUGE + 1), Decimal("1e999999999")),
    (0, Fraction(1, HUGE), Decimal("1e-5000"), Decimal("-1e-999999999")),
    (math.nan, float("nan"), np.float32("nan"), Decimal("NaN"), Decimal("sNaN")),
    ("a", np.str_("a")),
    (b"a", np.bytes_(b"a")),
    ((1, "a"), (1.0, "a"), (True, np.str_("a"))),
    (frozenset([0, 2]), frozenset([-0.0, 2.0])),
    (complex(-0.0, 2), complex(0.0, 2)),
    (Fraction(HUGE + 1, HUGE), 1),
]


@pytest.mark.parametrize("keys", ALIKE, ids=lambda keys: type(keys[0]).__name__)
def test_keys_that_are_equal_are_told_in_one_form(keys: tuple[Any, ...]) -> None:
    forms = {(type(canonicalize_key(key)), repr(canonicalize_key(key))) for key in keys}
    assert len(forms) == 1
    for key in keys:
        (told,) = people_per_key([("ann", keys[0]), ("bob", key)], max_keys=1)
        assert (type(told), repr(told)) in forms
        assert people_per_key([("ann", keys[0]), ("ann", key), ("bob", key)], max_keys=2) == {told: 2}


def test_one_person_does_not_decide_how_a_key_is_told() -> None:
    for keys in ALIKE:
        for odd in keys:
            others = [(person, keys[0]) for person in range(59)]
            tables = [people_per_key(r, max_keys=1) for r in ([(-1, odd), *others], [*others, (-1, keys[0])])]
            assert repr(tables[0]) == repr(tables[1])


def test_other_keys_stay_as_they_are() -> None:
    kept: tuple[Any, ...] = (None, "1", b"x", 7, 2.5, Fraction(1, 3), 1 + 2j, ("a", None), np.timedelta64(5, "s"))
    for key in kept:
        assert canonicalize_key(key) == key
        assert type(canonicalize_key(key)) is type(key)


class _EqualAtFirst(SeededBits):
    """Hands out equal words on the first call."""

    calls = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        self.calls += 1
        return np.zeros(count, np.uint64) if self.calls == 1 else super().words(count)


def test_equal_tags_are_drawn_again() -> None:
    bits = _EqualAtFirst(1)
    people_per_key([("ann", "a"), ("ann", "b")], max_keys=1, bits=bits)
    assert bits.calls == 2
    bits.calls = 0
    people_per_key([("ann", "a"), ("bob", "b")], max_keys=1, bits=bits)
    assert bits.calls == 1


def test_no_records_make_an_empty_table() -> None:
    assert people_per_key([], max_keys=1) == {}


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, None])
def test_a_bad_bound_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(MechanismError, match="max_keys"):
        people_per_key([], max_keys=bad)


@pytest.mark.parametrize(
    "records", [[("a", ["x"])], [(["a"], "x")], [("a", "x", 1)], [("a",)], [1], None, 5, [None]]
)
def test_records_that_are_no_pairs_are_refused(records: Any) -> None:
    with pytest.raises(MechanismError, match="records must be pairs"):
        people_per_key(records, max_keys=1)


def test_the_gaussian_loss_is_read_above_its_delta_only() -> None:
    loss = MECHANISMS[1].loss
    assert math.isinf(loss.epsilon(1e-7))
    assert loss.epsilon("2e-6") > loss.epsilon(1e-3) > 1
    assert (loss.event.epsilon, loss.event.rho) == (None, 1)
