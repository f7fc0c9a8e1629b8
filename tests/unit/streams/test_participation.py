"""Privacy by exact computation: every counter of `jali.streams` against its own dense strategy.

Nothing is listed: a counter that is made of a horizon, a loss and a person enters by being public.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import DEPTH, thinned
from tests.unit.streams.patterns import (
    COUNTERS,
    SLACK,
    all_patterns,
    furthest,
    made,
    noises,
    side_by_side,
    used,
)

from jali.errors import MechanismError
from jali.mechanisms import Root
from jali.streams import Counter, Doubling, EveryItem, Participation, Tumbling

ONCE = Participation(adjacency="add-remove")
SHORT = (1, 2, 3, 5, 8, 11, 16, 23, 32)
SEPARATIONS = range(1, 9)
counters = pytest.mark.parametrize("kind", COUNTERS, ids=lambda kind: kind.__name__)
both = pytest.mark.parametrize(
    ("kind", "noise"),
    [(kind, noise) for kind in COUNTERS for noise in noises(kind)],
    ids=lambda item: item if isinstance(item, str) else item.__name__,
)
adjacencies = pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
PEOPLE = [(ticks, separation) for ticks in (1, 2, 3) for separation in SEPARATIONS if ticks > 1 or separation == 1]


def _agree(kind: type[Counter], claimed: Fraction, worst: Any) -> bool:
    """Tell whether a distance is that of the worst pattern, or above it by what the class says it may be."""
    if kind.__name__ not in SLACK:
        return bool(claimed == worst)
    return bool(worst <= claimed <= worst * (1 + SLACK[kind.__name__]))


def test_counters_are_found() -> None:
    assert {"EveryItem", "BinaryTree"} <= {kind.__name__ for kind in COUNTERS}
    assert set(SLACK) <= {kind.__name__ for kind in COUNTERS}


@both
def test_inner_products_of_columns_are_not_negative(kind: type[Counter], noise: str) -> None:
    """What the factors of a person rest on; and no entry is negative, so that norms of columns add up."""
    for horizon in SHORT:
        strategy = made(kind, horizon, ONCE, noise).strategy().astype(object)
        assert strategy.shape[1] == horizon
        assert np.all(strategy >= 0)
        assert np.all(strategy.T @ strategy >= 0)


@thinned(4)
@both
@pytest.mark.parametrize("horizon", SHORT)
def test_the_distance_is_that_of_the_worst_pattern(kind: type[Counter], noise: str, horizon: int) -> None:
    """For a counter as it is made for one person, and entered by others: the strategy stays the same."""
    counter, which = made(kind, horizon, ONCE, noise), used(noise)
    strategy = counter.strategy()
    for ticks, separation in PEOPLE:
        other = Participation(adjacency="add-remove", ticks=ticks, separation=separation)
        worst = furthest(strategy, ticks, separation)[which]
        assert _agree(kind, counter.moved_by(other)[which], worst), (ticks, separation)


@thinned(4)
@both
@pytest.mark.parametrize("horizon", [1, 7, 20, 1024])
def test_the_distance_is_that_of_the_worst_pattern_for_the_person_it_is_made_for(
    kind: type[Counter], noise: str, horizon: int
) -> None:
    which = used(noise)
    for ticks, separation in ((1, 1), (2, 3)) if horizon > 100 else ((1, 1), (2, 1), (3, 2)):
        person = Participation(adjacency="add-remove", ticks=ticks, separation=separation)
        counter = made(kind, horizon, person, noise)
        worst = furthest(counter.strategy(), ticks, separation)[which]
        assert _agree(kind, counter.distance[which], worst), (ticks, separation)
        louder: Counter = replace(counter, **{noise: 2})  # type: ignore[type-var]
        assert louder.distance == counter.distance


@both
@adjacencies
@pytest.mark.parametrize("signed", [False, True])
def test_some_people_of_two_keys_reach_the_distance(
    kind: type[Counter], noise: str, adjacency: str, signed: bool
) -> None:
    """So no smaller factor would do: the same tick in another key, or with the other sign."""
    person = Participation(adjacency=adjacency, ticks=2, separation=3, signed=signed)
    counter, which = made(kind, 9, person, noise), used(noise)
    strategy = counter.strategy().astype(object)
    reached = max(_moved(strategy, a - b)[which] for a, b in _extremes(9, person))
    assert _agree(kind, counter.distance[which], reached)


def _extremes(horizon: int, person: Participation) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Return people who enter a pattern by 1 in the first key, and what they may be replaced by."""
    found = []
    for pattern in all_patterns(horizon, person.ticks, person.separation):
        first, second = np.zeros((2, horizon, 2), dtype=object)
        first[list(pattern), 0] = 1
        second[list(pattern), 1] = 1
        replaced = [second, -first] if person.signed else [second]
        found += [(first, b) for b in (replaced if person.adjacency == "replace-one" else [0 * first])]
    return found


@thinned(4)
@both
@adjacencies
@pytest.mark.parametrize("signed", [False, True])
def test_no_random_person_exceeds_the_distance(
    kind: type[Counter], noise: str, adjacency: str, signed: bool
) -> None:
    generator, which = np.random.default_rng(20_260_808), used(noise)
    for horizon in (1, 6, 11, 23):
        person = Participation(
            adjacency=adjacency,
            ticks=int(generator.integers(1, 4)),
            separation=int(generator.integers(1, 9)),
            l1=4,
            l2=Root(8),
            signed=signed,
        )
        counter = made(kind, horizon, person, noise)
        strategy = counter.strategy().astype(object)
        for _ in range(10 * DEPTH):
            keys = int(generator.integers(1, 4))
            one, other = (_entered(generator, horizon, keys, person) for _ in range(2))
            difference = one - other if adjacency == "replace-one" else one
            assert _moved(strategy, difference)[which] <= counter.distance[which]


def _entered(generator: np.random.Generator, horizon: int, keys: int, person: Participation) -> NDArray[Any]:
    """Return a random person: in each tick of a pattern a vector of norms 4 and sqrt(8) at most."""
    vectors = [v for v in np.ndindex(*[5] * keys) if sum(v) <= 4 and sum(x * x for x in v) <= 8]
    found = np.zeros((horizon, keys), dtype=object)
    tick = int(generator.integers(0, horizon))
    for _ in range(person.ticks):
        if tick < horizon:
            vector = np.array(vectors[int(generator.integers(len(vectors)))], dtype=object)
            found[tick] = vector * generator.choice([-1, 1], keys) if person.signed else vector
        tick += person.separation + int(generator.integers(0, 3))
    return found


def _moved(strategy: NDArray[Any], difference: NDArray[Any]) -> tuple[int, int]:
    move = strategy @ difference
    return int(np.abs(move).sum()), int((move * move).sum())


@thinned(4)
@both
@pytest.mark.parametrize(("ticks", "separation"), [(1, 1), (2, 1), (2, 3), (3, 1), (3, 2)])
def test_windows_are_as_far_apart_as_the_worst_person_over_many_of_them(
    kind: type[Counter], noise: str, ticks: int, separation: int
) -> None:
    """Six windows, side by side: who takes part thrice may be in one, two or three of them."""
    person = Participation(adjacency="add-remove", ticks=ticks, separation=separation)
    for window in (1, 2, 4):
        counter = Tumbling(window=window, person=person, each=kind, **{noise: 1})
        strategy = side_by_side([counter.part(i).strategy() for i in range(6)])
        worst = furthest(strategy, ticks, separation)[used(noise)]
        assert _agree(kind, counter.distance[used(noise)], worst)


@thinned(4)
@both
@pytest.mark.parametrize(("ticks", "separation"), [(1, 1), (2, 1), (2, 3), (3, 1), (3, 2)])
def test_epochs_together_cost_no_more_than_the_loss(
    kind: type[Counter], noise: str, ticks: int, separation: int
) -> None:
    """The loss of every pattern over the first epochs, by the noise that each of them has; all of it for once."""
    person = Participation(adjacency="add-remove", ticks=ticks, separation=separation)
    counter = Doubling(person=person, each=kind, growth=2, **{noise: 1})
    worst = _loss(counter, ticks, separation)
    assert worst <= 1 + 1e-9
    if ticks == 1:
        assert worst == pytest.approx(1, rel=SLACK.get(kind.__name__, 1e-9))


def _loss(counter: Doubling, ticks: int, separation: int) -> float:
    parts = [counter.part(number) for number in range(4)]
    if counter.epsilon is not None:
        blocks = [part.strategy() / float(part.law.scale) for part in parts]  # type: ignore[union-attr]
        return float(furthest(side_by_side(blocks), ticks, separation)[0])
    blocks = [part.strategy() / math.sqrt(2 * part.law.variance) for part in parts]  # type: ignore[union-attr]
    return float(furthest(side_by_side([b.astype(np.float64) for b in blocks]), ticks, separation)[1])


def test_noise_for_all_ticks_in_one_epoch_would_be_too_little() -> None:
    """The first epoch has one tick: who is there spends all that its counter is made for, and has a tick left."""
    person = Participation(adjacency="add-remove", ticks=2)
    for number, noise in ((0, "epsilon"), (1, "rho")):
        naive = [made(EveryItem, n, person, noise) for n in (1, 2)]
        spent = [Fraction(1) / part.distance[number] for part in naive]
        assert sum(spent) == Fraction(3, 2)
        counter = Doubling(person=person, each=EveryItem, growth=2, **{noise: 1})
        assert counter.distance[number] == 2


@both
@adjacencies
@pytest.mark.parametrize("signed", [False, True])
def test_a_replaced_person_may_move_from_one_part_to_another(
    kind: type[Counter], noise: str, adjacency: str, signed: bool
) -> None:
    """The exact distance of all people of two keys over three windows."""
    person = Participation(adjacency=adjacency, ticks=2, separation=2, signed=signed)
    counter, which = Tumbling(window=2, person=person, each=kind, **{noise: 1}), used(noise)
    strategy = side_by_side([counter.part().strategy().astype(object)] * 3)
    moved = [a - b for a, _ in _extremes(6, person) for b in _replacements(6, person)]
    worst = max(_moved(strategy, difference)[which] for difference in moved)
    assert worst <= counter.distance[which]
    assert kind.__name__ in SLACK or worst == counter.distance[which]


def _replacements(horizon: int, person: Participation) -> list[NDArray[Any]]:
    """Return all people who enter a pattern by 1 in the second key, or by -1 in the first; or nobody."""
    if person.adjacency == "add-remove":
        return [np.zeros((horizon, 2), dtype=object)]
    return [b for _, b in _extremes(horizon, person)]


def test_a_pattern_is_as_early_and_as_dense_as_it_can_be() -> None:
    person = Participation(adjacency="add-remove", ticks=3, separation=7)
    assert list(person.pattern(100)) == [0, 7, 14]
    assert [person.entered(n) for n in (1, 7, 8, 14, 15, 100)] == [1, 1, 2, 2, 3, 3]
    for horizon, ticks, separation in product(range(1, 12), (1, 2, 3), (1, 2, 5)):
        one = Participation(adjacency="add-remove", ticks=ticks, separation=separation)
        patterns = list(all_patterns(horizon, ticks, separation))
        assert one.entered(horizon) == max(map(len, patterns))
        assert tuple(one.pattern(horizon)) in patterns


def test_a_person_is_refused_by_name() -> None:
    for bad in ({"ticks": 0}, {"separation": 1.5}, {"l1": 0}, {"l1": 1, "l2": 2}, {"signed": 1}):
        name = list(bad)[-1]
        with pytest.raises(MechanismError, match=name):
            Participation(adjacency="add-remove", **bad)


def test_negative_inner_products_would_break_the_bound() -> None:
    """The precondition is needed: two columns that cancel each other, entered in two keys."""
    strategy = np.array([[1, -1]], dtype=object)
    together, apart = np.array([[1, 0], [1, 0]], dtype=object), np.array([[1, 0], [0, 1]], dtype=object)
    assert _moved(strategy, together)[1] == 0
    assert _moved(strategy, apart)[1] == 2
