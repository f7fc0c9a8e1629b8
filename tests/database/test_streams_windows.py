"""Durable streams over windows: the last ticks, or since the last restart."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.database.followed import follow, moment, protect, visits
from tests.depth import thinned

import jali
from jali.display.stream_display import build_stream_plot
from jali.errors import CatalogError, QueryError
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.stream import Stream
from jali.streams import Participation, Sliding, Tumbling, choose, counters, named
from jali.streams.noise_quantiles import quantile_of_sum
from jali.streams.windows import Window

# At this loss every noise is 0: another number has a probability below 1e-100, so that values are exact.
PLENTY = jali.Budget(epsilon=10**9)
SMALL = jali.Budget(epsilon=1, delta=1e-6)
ONCE = Participation(adjacency="add-remove")


@pytest.fixture
def db() -> Iterator[jali.Database]:
    with jali.connect() as made:
        yield made
        assert made.verify().problems == ()


def made(db: jali.Database, name: str = "admissions", **said: Any) -> Stream:
    return db.stream(name, **{"unit": "patient", "budget": PLENTY, **said})


def begins(window: dict[str, int], tick: int) -> int:
    """Return the first tick that the value at a tick is over."""
    if "last" in window:
        return max(1, tick - window["last"] + 1)
    return next(first for first in range(tick, 0, -1) if (first - 1) % window["restart"] == 0)


WINDOWS = [{"last": 1}, {"last": 3}, {"last": 4}, {"restart": 1}, {"restart": 3}, {"restart": 4}]


# What is published.


@thinned(3)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("mechanism", ["every-item", "binary-tree", None])
def test_a_count_is_of_the_ticks_of_its_window_under_each_key(
    db: jali.Database, window: dict[str, Any], mechanism: str | None
) -> None:
    stream = made(db, keys=["A", "B"], mechanism=mechanism, **window)
    came = np.random.default_rng(3).integers(0, 4, size=(11, 2))
    for tick, counts in enumerate(came, 1):
        each = [(key, place) for key, count in zip("AB", counts, strict=True) for place in range(count)]
        stream.append([{"item": 1, "owner": f"{tick}{key}{place}", "key": key} for key, place in each])
        stream.publish()
    found = [[tick.values["A"], tick.values["B"]] for tick in stream.ticks()]
    wanted = [came[begins(window, tick) - 1 : tick].sum(axis=0) for tick in range(1, 12)]
    assert np.allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("window", [{"last": 3}, {"restart": 3}], ids=str)
def test_sums_means_and_distributions_are_over_the_ticks_of_the_window(
    db: jali.Database, window: dict[str, Any]
) -> None:
    values = [[10.0, 20.0], [70.0], [], [30.0, 5.0, 40.0], [15.0], [90.0], [60.0, 61.0], [1.0]]
    total = made(db, "total", measure="sum", value=jali.Range(0, 100), **window)
    mean = made(db, "mean", measure="mean", value=jali.Range(0, 100), **window)
    shares = made(db, "shares", measure="cdf", value=jali.Range(0, 100), bins=[20, 50], **window)
    for tick, here in enumerate(values, 1):
        sent = [{"item": 1, "owner": f"{tick}.{place}", "value": v} for place, v in enumerate(here)]
        told = [stream.publish() for stream in (total, mean, shares) if stream.append(sent) is not None]
        inside = list(itertools.chain(*values[begins(window, tick) - 1 : tick]))
        assert told[0].values[None] == pytest.approx(sum(inside), abs=1e-2)
        if inside:
            assert told[1].values[None] == pytest.approx(sum(inside) / len(inside), abs=1e-2)
            assert told[1].low[None] <= sum(inside) / len(inside) + 1e-3
            for end in (20, 50):
                below = sum(value <= end for value in inside) / len(inside)
                assert told[2].values[end] == pytest.approx(below, abs=1e-6)


@pytest.mark.parametrize(("window", "wanted"), [({"last": 2}, [2, 3, 1, 2]), ({"restart": 1}, [2, 1, 0, 2])])
def test_a_stream_that_follows_a_table_has_windows_too(
    db: jali.Database, window: dict[str, Any], wanted: list[int]
) -> None:
    rows = [("ana", 0.1), ("ben", 0.5), ("cai", 1.2), ("dan", 3.0), ("eva", 3.9)]
    protect(db, visits(*rows))
    stream = db.stream(
        "followed",
        query="SELECT date_trunc('day', seen) AS day, COUNT(*) FROM visits GROUP BY day",
        start="2026-01-01",
        epsilon=10**12,
        **window,
    )
    stream.publish(until=moment(4))
    assert [tick.values[None] for tick in stream.ticks()] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("mechanism", ["every-item", "smooth-tree", "balanced-digits"])
@pytest.mark.parametrize("window", [{"last": 5}, {"restart": 5}], ids=str)
def test_a_stream_goes_on_inside_a_window_when_its_database_is_opened_again(
    tmp_path: Path, window: dict[str, Any], mechanism: str
) -> None:
    path, said = tmp_path / "clinic.jali", {"mechanism": mechanism, "adaptive": False, **window}
    with jali.connect(path) as db:
        made(db, **said)
    for tick in range(1, 14):
        with jali.connect(path) as db:
            stream = db.stream("admissions")
            stream.append([{"item": place, "owner": f"{tick}.{place}"} for place in range(tick)])
            wanted = sum(range(begins(window, tick), tick + 1))
            assert stream.publish().values[None] == pytest.approx(wanted, abs=1e-6)
            assert made(db, **said).declaration == stream.declaration


def test_a_window_needs_no_horizon_and_with_one_the_stream_ends_there(db: jali.Database) -> None:
    assert made(db, "endless", last=2).publish(500).number == 500
    ending = made(db, "ending", last=2, horizon=5)
    ending.publish(5)
    with pytest.raises(QueryError, match="5 ticks"):
        ending.publish()
    with pytest.raises(CatalogError, match="The horizon of the stream is missing"):
        made(db, "neither")


def test_another_window_is_another_declaration(db: jali.Database) -> None:
    stream = made(db, last=3)
    assert made(db, last=3).declaration == stream.declaration
    others: list[dict[str, Any]] = [{"last": 4}, {"restart": 3}, {"horizon": 3}]
    for said in others:
        with pytest.raises(CatalogError, match="with another declaration"):
            made(db, **said)


# What it costs, and which counter.


@thinned(4)
@pytest.mark.parametrize("window", [{"last": 3}, {"restart": 3}], ids=str)
@pytest.mark.parametrize("mechanism", ["every-item", "every-prefix", "binary-tree", "smooth-tree"])
@pytest.mark.parametrize(("max_ticks", "separation"), [(1, 1), (2, 1), (3, 1), (3, 2)])
@pytest.mark.parametrize("loss", [{"epsilon": 2}, {"rho": 1}], ids=str)
def test_the_noise_pays_for_whoever_spreads_over_windows(
    db: jali.Database,
    window: dict[str, Any],
    mechanism: str,
    max_ticks: int,
    separation: int,
    loss: dict[str, Any],
) -> None:
    """All patterns of one person over six windows, against the block matrix that is measured."""
    stream = db.stream(
        "s", unit="p", mechanism=mechanism, max_ticks=max_ticks, separation=separation, **window, **loss
    )
    counter = stream.declaration.mechanism
    assert isinstance(counter, Sliding | Tumbling)
    part = counter.part()
    measured = np.kron(np.eye(6, dtype=np.int64), part.strategy())
    patterns = [
        chosen
        for chosen in itertools.combinations(range(measured.shape[1]), max_ticks)
        if all(b - a >= separation for a, b in itertools.pairwise(chosen))
    ]
    moved = np.array([measured[:, list(chosen)].sum(axis=1) for chosen in patterns])
    if "epsilon" in loss:
        assert np.abs(moved).sum(axis=1).max() <= counter.distance[0]
        assert part.law == counter.law == DiscreteLaplaceLaw(counter.distance[0] / 2)
    else:
        assert (moved**2).sum(axis=1).max() <= counter.distance[1]
        assert part.law == counter.law == DiscreteGaussianLaw(counter.distance[1] / 2)
    assert stream.cost == counter.loss.event


@thinned(4)
@pytest.mark.parametrize("window", [{"last": 7}, {"restart": 7}, {"last": 200}, {"restart": 300}], ids=str)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_the_counter_inside_has_the_least_largest_error_of_all(
    db: jali.Database, window: dict[str, Any], delta: float
) -> None:
    stream = made(db, budget=jali.Budget(epsilon=1, delta=delta), **window)
    losses: dict[str, Any] = {"epsilon": 1} | ({"delta": delta} if delta else {})
    inside = [name for name in counters() if name not in ("doubling", "balanced-digits")]
    inside = inside if delta else [name for name in inside if "toeplitz" not in name]
    others = [named(name, horizon=None, person=ONCE, **losses, **window) for name in inside]
    least = min(other.largest for other in others)
    assert stream.declaration.mechanism.largest <= 1.01 * least


def test_the_forecast_of_a_window_is_that_of_its_noises() -> None:
    """With noise on every item the values over 7 ticks have 7 noises; on every prefix, three."""
    stddev = math.sqrt(2 * math.exp(-1)) / (1 - math.exp(-1))  # discrete Laplace noise of scale 1
    rows = {row.name: row for row in choose(horizon=None, epsilon=1, person=ONCE, last=7).alternatives}
    assert rows["sliding-every-item"].largest == pytest.approx(math.sqrt(7) * stddev)
    prefix = math.sqrt(2 * math.exp(-1 / 7)) / (1 - math.exp(-1 / 7))  # one person moves 7 running sums
    assert rows["sliding-every-prefix"].largest == pytest.approx(math.sqrt(3) * prefix)
    restarted = choose(horizon=None, epsilon=1, person=ONCE, restart=7)
    assert restarted.title.startswith("Values from tick 1, 8, 15, ... anew, within epsilon=1")
    assert restarted.best.largest == pytest.approx(math.sqrt(7) * stddev)
    assert restarted.best.name == "tumbling-every-item"


@pytest.mark.parametrize("name", ["every-prefix", "sliding-every-prefix"])
def test_the_counter_inside_can_be_named(db: jali.Database, name: str) -> None:
    stream = made(db, last=7, mechanism=name)
    assert "sliding-every-prefix" in stream.explain()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"last": 3, "restart": 3}, "cannot be combined"),
        ({"last": 0}, "last must be a whole number"),
        ({"restart": True}, "restart must be a whole number"),
        ({"last": 9, "horizon": 8}, "last is 9, but the stream has 8 ticks.*so far"),
        ({"last": 1025}, "last can be at most 1,024 ticks with 1 columns"),
        ({"last": 1000, "keys": range(200)}, "last can be at most 655 ticks with 200 columns"),
        ({"restart": 10**7}, "not forecast beyond .* Use fewer ticks"),
        ({"last": 3, "mechanism": "doubling"}, "no counter 'doubling' for windows.*binary-tree"),
        ({"last": 3, "mechanism": "toeplitz-root"}, "does not support Laplace noise.*Add a delta, or give rho"),
        ({"last": 3, "mechanism": "balanced-digits"}, "not proved for increments.*adaptive=False"),
        ({"horizon": 9, "separation": 2}, "separation is 2, but .*Give max_ticks as well"),
        ({"horizon": 9, "max_ticks": 10}, "max_ticks is 10, .* only 9 ticks.*Give 9 or fewer"),
        (
            {"horizon": 365, "max_ticks": 400, "separation": 28},
            "14 of the 365 ticks of the stream are 28 apart.*Give 14 or fewer",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_remedy(db: jali.Database, said: dict[str, Any], told: str) -> None:
    with pytest.raises(CatalogError, match=told):
        made(db, **said)
    assert db.streams.list() == ()


def test_as_many_ticks_as_fit_are_taken(db: jali.Database) -> None:
    assert made(db, "a", horizon=365, max_ticks=14, separation=28, mechanism="every-item")
    assert made(db, "b", horizon=9, max_ticks=9, mechanism="every-item")
    assert made(db, "c", horizon=9, max_ticks=9, restart=3, mechanism="every-item")


def test_a_week_of_a_question_that_begins_on_another_day_is_told_its_monday(db: jali.Database) -> None:
    protect(db, visits())
    weekly = "SELECT date_trunc('week', seen) AS week, COUNT(*) FROM visits GROUP BY week"
    with pytest.raises(CatalogError, match="start=2025-12-29"):
        follow(db, weekly, start="2026-01-01")


# How it is told.


@pytest.mark.parametrize(
    ("window", "what", "lately"),
    [
        ({"last": 7}, "over the last 7 ticks", "over the last 7 ticks"),
        ({"restart": 7}, "from tick 1, 8, 15, ... anew", "since tick 8"),
        ({"restart": 1}, "of each tick", "of tick 9"),
        ({"horizon": 9}, "so far", "so far"),
    ],
)
def test_what_is_shown_says_over_which_ticks_it_is(
    db: jali.Database, window: dict[str, Any], what: str, lately: str
) -> None:
    stream = made(db, budget=SMALL, **window)
    stream.publish(9)
    assert f"count {what}" in stream.explain()
    assert f"count {what}" in str(stream)
    assert f"count {what}" in repr(stream)
    assert f"count {lately} · tick 9" in build_stream_plot(stream).heading
    assert any(f"count {what}" in receipt.question for receipt in db.receipts())


def test_windows_say_since_when_they_are() -> None:
    window = Window(3, False)
    assert [window.at(tick) for tick in (1, 3, 4, 6, 7)] == [f"since tick {tick}" for tick in (1, 1, 4, 4, 7)]


MEASURES: dict[str, dict[str, Any]] = {
    "count": {},
    "sum": {"value": jali.Range(0, 240)},
    "mean": {"value": jali.Range(0, 240)},
    "cdf": {"bins": [10, 20, 60]},
}


@pytest.mark.parametrize("measure", MEASURES)
def test_an_explanation_is_in_the_unit_of_its_measure_and_fits_its_width(db: jali.Database, measure: str) -> None:
    stream = made(db, budget=SMALL, measure=measure, horizon=365, **MEASURES[measure])
    said = stream.explain()
    assert max(map(len, said.splitlines())) <= 100
    told = " ".join(said.split())
    assert "balanced-digits" not in told  # it may not be taken
    largest = float(re.findall(r"buffered-toeplitz \(Gaussian\) ([\d.,]+)", told)[0].replace(",", ""))
    # One person moves a count by 1, a sum by 240; the sum behind a mean by 120 with a count of as much beside it.
    moved = {"count": 1, "sum": 240, "mean": 120 * math.sqrt(2), "cdf": 1}[measure]
    alone = named("buffered-toeplitz", horizon=365, epsilon=1, delta=1e-6, person=ONCE).largest
    assert largest == pytest.approx(moved * alone, rel=2e-3)
    assert largest >= moved * alone * (1 - 1e-5)


def test_the_noise_of_means_and_distributions_is_told_for_a_thousand_items(db: jali.Database) -> None:
    said: dict[str, Any] = {"budget": jali.Budget(epsilon=1), "restart": 24, "mechanism": "every-item"}
    mean = made(db, "mean", measure="mean", value=jali.Range(0, 100), **said).explain()
    shares = made(db, "shares", measure="cdf", bins=[10, 20, 30], **said).explain()
    # One person moves the sum by 50, from the middle, and as much a count beside it: 24 noises of scale 100.
    off = 100 * math.sqrt(24 * 2) / 1000
    assert 1.96 * off < _half(mean, "on a mean of 1,000 items") < 1.5 * 1.96 * off
    # The share at the second of four ends is (a + b) / n: half of the noise of a + b less that of c + d.
    off = math.sqrt(24 * 2 * math.exp(-1)) / (1 - math.exp(-1)) / 1000
    assert 1.96 * off < _half(shares, "on a share of 1,000 items") < 1.5 * 1.96 * off


def _half(said: str, what: str) -> float:
    return float(re.findall(rf"tick 24: ± ([\d.]+) {what}", said)[0])


@thinned(4)
@pytest.mark.parametrize("kind", [Sliding, Tumbling])
@pytest.mark.parametrize("each", ["EveryItem", "BinaryTree"])
def test_the_error_of_every_tick_is_that_of_its_own_noises(kind: type[Sliding | Tumbling], each: str) -> None:
    """Errors are computed once for ticks that are alike; here every tick has its own."""
    counter = kind(window=5, epsilon="1/3", person=ONCE, each=each)
    for tick in range(1, 23):
        assert counter.error(0.9, tick=tick) == quantile_of_sum(counter.terms(tick), 0.9)
        assert counter.stddev(tick) == counter.stddev(counter.alike(tick))
