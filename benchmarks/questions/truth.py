"""What the questions come to without noise: of the whole table, and of what one person may count for."""

from __future__ import annotations

import numpy as np
from benchmarks.questions.table import CITIES, MAX_ROWS, SHORT, ZONES, Column, Rides

Truth = dict[str, Column]


def whole(rides: Rides, *, people: bool) -> Truth:
    """Return the statistics of all rows; zones are counted in people if asked."""
    return _all(rides, people=people, most=None)


def bounded(rides: Rides) -> Truth:
    """Return what a person's rows, weighed down or sampled to at most MAX_ROWS of them, come to on average.

    Both ways aim at the same number: a row of a person with c of them counts min(1, MAX_ROWS / c). A person stands
    once in each of their cities or zones, of which at most MAX_ROWS count.
    """
    return _all(rides, people=True, most=MAX_ROWS)


def _all(rides: Rides, *, people: bool, most: int | None) -> Truth:
    weights = _weights(rides["user_id"], most)
    city, fare = rides["city"], rides["fare"]
    counts = np.bincount(city, weights, CITIES)
    sums = np.bincount(city, weights * fare, CITIES)
    short = {name: column[rides["km"] < SHORT] for name, column in rides.items()}
    return {
        "count": counts,
        "sum": sums,
        "avg": sums / counts,
        "median": _medians(city, fare, weights),
        "people": _people(rides, "city", CITIES, most),
        "short": np.bincount(short["city"], _weights(short["user_id"], most), CITIES),
        "zones": _people(rides, "zone", ZONES, most) if people else np.bincount(rides["zone"], minlength=ZONES),
    }


def _weights(owner: Column, most: int | None) -> Column:
    if most is None:
        return np.ones(len(owner))
    return np.minimum(1.0, most / np.bincount(owner)[owner])


def _people(rides: Rides, group: str, groups: int, most: int | None) -> Column:
    pairs = np.unique(rides["user_id"] * groups + rides[group])
    return np.bincount(pairs % groups, _weights(pairs // groups, most), groups)


def _medians(city: Column, fare: Column, weights: Column) -> Column:
    """Interpolate in each city between the fares, each standing at the middle of its weight."""
    order = np.lexsort((fare, city))
    ends = np.searchsorted(city[order], np.arange(CITIES + 1))
    parts = [order[ends[i] : ends[i + 1]] for i in range(CITIES)]
    return np.array([_median(fare[part], weights[part]) for part in parts])


def _median(values: Column, weights: Column) -> float:
    ends = np.cumsum(weights)
    return float(np.interp(ends[-1] / 2, ends - weights / 2, values))
