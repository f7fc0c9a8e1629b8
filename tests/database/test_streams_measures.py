"""Means and CDFs over time: what an item adds, what is shown, and how far one person moves it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jali.catalog.columns import Range
from jali.errors import CatalogError
from jali.execution.streams.measure_protocol import MeasureTerms, StreamMeasure, TickNoise
from jali.execution.streams.stream_measures import MEASURES, build_measure
from jali.mechanisms.workloads.workload import Floats
from jali.streams import EveryItem, Participation
from jali.streams.stream_item import Item


def _mean(low: object = 0, high: object = 100, keys: tuple[object, ...] | None = None) -> StreamMeasure:
    return build_measure("mean", MeasureTerms(keys, Range(low, high)))  # type: ignore[arg-type]


def _cdf(bins: list[object], values: Range | None = None, keys: tuple[object, ...] | None = None) -> StreamMeasure:
    return build_measure("cdf", MeasureTerms(keys, values, tuple(Fraction(str(end)) for end in bins)))


def _columns(measure: StreamMeasure, items: list[Item]) -> Floats:
    total = [0] * measure.width
    for item in items:
        for place, amount in (measure.increments(item) or {}).items():
            assert type(amount) is int
            total[place] += amount
    return np.array(total, dtype=np.float64)


def _noise(measure: StreamMeasure, *, epsilon: float = 1) -> TickNoise:
    person = Participation(adjacency="add-remove", l1=measure.l1, l2=measure.l2, signed=measure.signed)
    return TickNoise(EveryItem(horizon=10, epsilon=epsilon, person=person), 5)


_NUMBERS = st.one_of(st.floats(-1e9, 1e9), st.integers(-300, 300), st.fractions())


@given(st.lists(_NUMBERS, min_size=1, max_size=30))
def test_a_mean_without_noise_is_the_mean_of_the_clamped_values(values: list[float]) -> None:
    measure = _mean(-10, "30.5")
    shown = measure.values(_columns(measure, [Item(i, value=v) for i, v in enumerate(values)]))[None]
    plain = [min(max(Fraction(v), Fraction(-10)), Fraction("30.5")) for v in values]
    assert shown == pytest.approx(float(sum(plain) / len(plain)), abs=40.5 / 2**20)


@given(_NUMBERS, st.sampled_from([("0", "100"), ("-3", "0.7"), ("-1e-6", "1e-6"), ("5", "7")]))
def test_an_item_moves_a_mean_no_further_than_it_says(value: object, ends: tuple[str, str]) -> None:
    measure = _mean(*ends)
    added = list((measure.increments(Item("e", value=value)) or {}).values())
    assert sum(map(abs, added)) <= measure.l1
    assert sum(x * x for x in added) <= measure.l2.squared
    extreme = list((measure.increments(Item("e", value=10**9)) or {}).values())
    assert sum(map(abs, extreme)) == measure.l1


def test_replacing_one_person_in_a_mean_moves_no_strategy_further_than_participation_says() -> None:
    """All histories of two ticks, at the ends and the middle of the range, for strategies without negatives."""
    measure = _mean(0, 100)
    person = Participation(adjacency="replace-one", ticks=2, l1=measure.l1, l2=measure.l2, signed=measure.signed)
    generator = np.random.default_rng(7)
    added = [np.zeros(2)] + [
        np.array(list((measure.increments(Item("e", value=v)) or {}).values()), float) for v in (0, 50, 100)
    ]
    histories = [np.array(pair) for pair in itertools.product(added, repeat=2)]
    for _ in range(20):
        strategy = np.tril(generator.integers(0, 4, (2, 2)))
        entered = float(((strategy @ np.ones(2)) ** 2).sum())
        moved = max(float(((strategy @ (a - b)) ** 2).sum()) for a in histories for b in histories)
        assert moved <= float(person.squared_weight) * entered * (1 + 1e-12)


def test_a_mean_keeps_keys_apart_and_leaves_out_what_has_no_number_or_no_key() -> None:
    measure = _mean(0, 10, ("A", "B"))
    items = [Item(1, key="A", value=2), Item(2, key="B", value=8.0), Item(3, key="A", value=4)]
    left_out = [Item(4, key="C", value=1), Item(5, key="A"), Item(6, key="A", value=float("nan")), Item(7, key=[])]
    assert all(measure.increments(item) is None for item in left_out)
    assert measure.values(_columns(measure, items)) == pytest.approx({"A": 3.0, "B": 8.0}, abs=1e-4)


def test_a_mean_of_nobody_is_the_middle_of_the_range_and_its_interval_is_all_of_it() -> None:
    measure = _mean(20, 100)
    nothing = np.zeros(2)
    assert measure.values(nothing) == {None: 60.0}
    assert measure.intervals(nothing, _noise(measure), 0.95) == {None: (20.0, 100.0)}


def test_a_mean_of_many_has_a_narrow_interval_around_it() -> None:
    measure = _mean(0, 100)
    columns = 10_000 * _columns(measure, [Item(1, value=25)])
    ((low, high),) = measure.intervals(columns, _noise(measure), 0.95).values()
    assert 24.5 < low < 25 < high < 25.5
    ((wider, _),) = measure.intervals(columns, _noise(measure), 0.9999).values()
    assert wider < low


@pytest.mark.parametrize(
    "said",
    [
        MeasureTerms(),
        MeasureTerms(None, Range(3, 3)),
        MeasureTerms(None, Range(0, 1), (Fraction(1),)),
    ],
)
def test_a_mean_without_a_range_is_refused(said: MeasureTerms) -> None:
    with pytest.raises(CatalogError, match="range"):
        build_measure("mean", said)


_VALUES = st.lists(st.one_of(st.floats(-5, 45), st.sampled_from([0.1, 10, 20.0, 30])), min_size=1, max_size=40)


@given(_VALUES)
def test_a_cdf_without_noise_is_the_share_of_values_up_to_each_end(values: list[float]) -> None:
    measure = _cdf(["0.1", 10, 20, 30])
    shown = measure.values(_columns(measure, [Item(i, value=v) for i, v in enumerate(values)]))
    plain = {end: sum(v <= end for v in values) / len(values) for end in (0.1, 10, 20, 30)}
    assert shown == pytest.approx(plain)


def test_a_cdf_whose_last_end_is_the_end_of_the_range_needs_no_further_cell() -> None:
    assert _cdf([10, 20]).width == 3
    assert _cdf([10, 20], Range(0, 20)).width == 2
    measure = _cdf([10, 20], Range(0, 20), keys=("A", "B"))
    assert measure.width == 4
    items = [Item(1, key="B", value=99), Item(2, key="B", value=5), Item(3, key="A", value=-7)]
    columns = _columns(measure, items)
    assert columns.tolist() == [1, 0, 1, 1]
    assert measure.values(columns) == {("A", 10): 1.0, ("A", 20): 1.0, ("B", 10): 0.5, ("B", 20): 1.0}


@given(st.lists(st.floats(-50, 200), min_size=4, max_size=4))
def test_what_a_cdf_shows_rises_from_0_to_1_within_its_intervals(cells: list[float]) -> None:
    measure, columns = _cdf([10, 20, 30]), np.array(cells)
    shown = list(measure.values(columns).values())
    assert shown == sorted(shown)
    assert 0 <= shown[0] <= shown[-1] <= 1
    for value, (low, high) in zip(shown, measure.intervals(columns, _noise(measure), 0.9).values(), strict=True):
        assert 0 <= low <= value <= high <= 1


def test_the_intervals_of_a_cdf_cover_as_often_as_they_say() -> None:
    """False alarm: 250 draws at 90 % stay above 70 % but with probability 2e-9 (Hoeffding), were it just 90 %."""
    measure, noise, generator = _cdf([10, 20, 30]), _noise(_cdf([10, 20, 30])), np.random.default_rng(3)
    exact = np.array([40.0, 100.0, 30.0, 30.0])
    scale, covered = float(noise.law.scale), 0  # type: ignore[union-attr]
    for _ in range(250):
        drawn = np.rint(generator.laplace(0, scale, (5, 4))).sum(axis=0)
        low, high = measure.intervals(exact + drawn, noise, 0.9)[20]
        covered += low <= 0.7 <= high
    assert covered > 175


@pytest.mark.parametrize("bins", [[], [20, 10], [10, 10], [10, 300]])
def test_ends_of_cells_that_do_not_rise_within_the_range_are_refused(bins: list[object]) -> None:
    with pytest.raises(CatalogError, match="bin edges"):
        _cdf(bins, Range(0, 200))


def test_every_measure_is_registered_under_its_own_name() -> None:
    assert all(kind.name == name for name, kind in MEASURES.items())  # type: ignore[comparison-overlap]
