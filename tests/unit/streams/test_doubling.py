"""Doubling: epochs, errors, recipes, and streams that go on."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.depth import DEPTH
from tests.seeded import SeededBits
from tests.unit.streams.patterns import COUNTERS, noises

from jali.errors import MechanismError
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.workloads.workload import Floats
from jali.streams import BinaryTree, Counter, Doubling, EveryItem, Participation, Recipe, Tumbling, counters
from jali.streams.noise_quantiles import quantile_of_sum, stddev_of_sum

ONCE = Participation(adjacency="add-remove")


def _estimates(counter: Counter) -> Floats:
    """Return the matrix that makes values of measurements, by trying every unit vector."""
    units = np.eye(len(counter.strategy()), dtype=np.int64)
    return np.array([counter.answer(unit) for unit in units]).T


@pytest.mark.parametrize(("first", "growth"), [(1, 2), (1, 16), (3, 2), (5, 4)])
def test_every_tick_falls_in_one_epoch(first: int, growth: int) -> None:
    counter = Doubling(rho=1, person=ONCE, each="EveryItem", first=first, growth=growth)
    listed = [(epoch, tick) for epoch in range(10) for tick in range(1, min(first * growth**epoch, 300) + 1)]
    assert [counter.place(tick) for tick in range(1, 301)] == listed[:300]


def test_epochs_stop_growing() -> None:
    counter = Doubling(rho=1, person=ONCE, each="EveryItem", growth=2)
    whole = (1 << 22) - 1
    assert counter.length(22) == counter.length(23) == counter.length(1000) == 1 << 22
    assert counter.place(whole) == (21, 1 << 21)
    assert counter.place(whole + 1) == (22, 1)
    assert counter.place(whole + 5 * (1 << 22) + 7) == (27, 7)
    assert counter.place(1 << 60)[1] <= 1 << 22


@pytest.mark.parametrize("kind", COUNTERS, ids=lambda kind: kind.__name__)
def test_variances_add_up_over_epochs(kind: type[Counter]) -> None:
    """Against dense matrices of each epoch: the last row of those before, and the row of the tick."""
    counter = Doubling(person=ONCE, each=kind, growth=2, **{noises(kind)[0]: "1/3"})  # type: ignore[arg-type]
    wanted, before = [], 0.0
    for number in range(4):
        part = counter.part(number)
        inside = (_estimates(part) ** 2).sum(axis=1) * float(part.law.stddev) ** 2
        wanted += (before + inside).tolist()
        before += inside[-1]
    assert np.allclose(counter.variances_over(15), wanted, rtol=1e-6)
    assert [counter.stddev(t) ** 2 for t in range(1, 16)] == pytest.approx(wanted, rel=1e-6)
    influence = counter.influence(12)
    assert float(influence @ influence) * float(counter.law.stddev) ** 2 == pytest.approx(wanted[11], rel=1e-6)


def test_the_standard_deviation_is_that_of_simulated_streams() -> None:
    """300 streams: a sample variance is within 6 of its standard errors, sqrt(2/300)."""
    counter = Doubling(rho="1/8", person=ONCE, each="BinaryTree", growth=2)
    zeros, runs = np.zeros(13, np.int64), 300 * DEPTH
    errors = np.array([counter.start(ahead=16, bits=SeededBits(i)).extend(zeros) for i in range(runs)])
    for tick in (1, 3, 6, 7, 13):
        ratio = float((errors[:, tick - 1] ** 2).mean()) / counter.stddev(tick) ** 2
        assert abs(ratio - 1) < 6 * math.sqrt(2 / runs)


@pytest.mark.parametrize(
    ("each", "loss", "growth", "largest"),
    [
        ("BinaryTree", {"rho": "1/2"}, 2, 17.39),
        ("BinaryTree", {"rho": "1/2"}, 16, 15.47),
        ("BinaryTree", {"epsilon": 1}, 16, 98.25),
        ("SmoothTree", {"epsilon": 1}, 16, 58.75),
        ("BufferedToeplitz", {"rho": "1/2"}, 16, 8.87),
    ],
)
def test_the_figures_of_the_proof_page(each: str, loss: dict[str, Any], growth: int, largest: float) -> None:
    counter = Doubling(person=ONCE, each=each, growth=growth, **loss)
    assert counter.largest == pytest.approx(largest, abs=0.02)
    assert counter.rms < counter.largest
    assert counter.stddev(counter.worst_tick) == pytest.approx(counter.largest)


def test_a_stream_without_an_end_goes_on_and_one_with_an_end_stops() -> None:
    endless = Doubling(epsilon=1000, person=ONCE, each="EveryItem").start(bits=SeededBits(1))
    assert endless.extend(np.ones(100_000, np.int64))[-1] == 100_000
    assert not endless.exhausted
    ending = Doubling(horizon=20, epsilon=1000, person=ONCE, each="EveryItem").start(bits=SeededBits(1))
    assert ending.extend([1] * 20)[-1] == 20
    assert ending.exhausted
    with pytest.raises(MechanismError, match="All 20 ticks"):
        ending.append(1)
    assert repr(endless.counter).startswith("Doubling(horizon=unlimited, epsilon=1000")


def test_the_error_after_a_tick_covers_the_noises_of_all_epochs() -> None:
    """Against the exact law of the sum: epochs of 1 and 2 ticks, the second with more noise."""
    person = Participation(adjacency="add-remove", ticks=2)
    losses: tuple[dict[str, Any], ...] = ({"epsilon": "1/2"}, {"rho": "1/20"})
    for loss in losses:
        counter = Doubling(person=person, each="EveryPrefix", growth=2, **loss)
        laws = [counter.part(0).law, counter.part(1).law]
        assert laws[0] != laws[1]
        reach = 400
        masses = [np.exp([law.log_mass(z) for z in range(-reach, reach + 1)]) for law in laws]
        total = np.convolve(masses[0], masses[1])
        for confidence in (0.5, 0.9, 0.99):
            exact = next(t for t in range(reach) if total[2 * reach - t : 2 * reach + t + 1].sum() >= confidence)
            assert exact <= counter.error(confidence, tick=3) <= exact * 1.03 + 1


def test_quantiles_of_many_different_terms_are_bounds_and_not_far_off() -> None:
    """By moments for Laplace noise; for Gaussian noise nearly that of the normal law with the same variance."""
    row = np.geomspace(0.01, 1, 400)
    laplace = [(row, DiscreteLaplaceLaw(Fraction(scale))) for scale in (20, 35)]
    gaussian = [(row, DiscreteGaussianLaw(Fraction(variance))) for variance in (4000, 9000)]
    for terms in (laplace, gaussian):
        stddev = stddev_of_sum(terms)
        assert stddev == pytest.approx(math.sqrt(sum(law.stddev**2 * float(row @ row) for _, law in terms)))
        assert 1.95 * stddev < quantile_of_sum(terms, 0.95) < 2.9 * stddev
    assert quantile_of_sum([(np.ones(3), DiscreteLaplaceLaw(Fraction(1, 30)))], 0.95) == 0


def test_recipes_are_read_from_names_classes_and_recipes() -> None:
    plain = Doubling(rho=1, person=ONCE, each=Recipe("BinaryTree", estimate="plain"))
    assert isinstance(plain.part(1), BinaryTree)
    assert plain.part(1).estimate == "plain"  # type: ignore[attr-defined]
    assert repr(plain.each) == "Recipe('BinaryTree', estimate='plain')"
    by_class, by_name = (Doubling(rho=1, person=ONCE, each=each) for each in (EveryItem, "EveryItem"))
    assert by_class == by_name
    assert Doubling(rho=1, person=ONCE).each == Recipe("BufferedToeplitz")
    assert Doubling(epsilon=1, person=ONCE).each == Recipe("SmoothTree")


def test_counters_have_the_names_of_the_chooser_too() -> None:
    found = {name: Recipe(name).kind() for name, kind in counters().items() if kind in COUNTERS}
    assert found.items() <= counters().items()
    assert len(found) == len(COUNTERS)
    assert Doubling(epsilon=1, person=ONCE, each="every-item") == Doubling(epsilon=1, person=ONCE, each=EveryItem)


def test_what_is_no_counter_of_a_horizon_is_refused_by_name() -> None:
    for bad in ("Doubling", "Tumbling", "Counter", "nothing", "choose", Doubling):
        with pytest.raises(MechanismError, match="each must be the name of a counter"):
            Doubling(epsilon=1, person=ONCE, each=bad)
    with pytest.raises(MechanismError, match="each cannot be ToeplitzRoot, which does not support epsilon"):
        Doubling(epsilon=1, person=ONCE, each="ToeplitzRoot")
    with pytest.raises(MechanismError, match="growth"):
        Doubling(epsilon=1, person=ONCE, growth=1)


def test_only_counters_that_are_proved_for_adaptive_streams_make_adaptive_ones() -> None:
    assert Doubling(epsilon=1, person=ONCE, each="EveryItem").adaptive
    assert not Doubling(epsilon=1, person=ONCE, each="BalancedDigits").adaptive


def test_no_noise_of_an_epoch_is_drawn_again_where_a_stream_goes_on() -> None:
    """Two streams go on from one state with other random bits: they part where the next epoch begins."""
    counter = Doubling(rho="1/8", person=ONCE, each="BinaryTree", growth=2)
    running = counter.start(bits=SeededBits(5))
    running.extend([1] * 9)
    one, other = (counter.resume(running.state(), bits=SeededBits(seed)) for seed in (6, 7))
    values = [stream.extend([2] * 30) for stream in (one, other)]
    assert np.array_equal(values[0][:6], values[1][:6])
    assert not np.array_equal(values[0][6:], values[1][6:])


def test_a_frozen_stream_has_the_same_epochs_and_finds_none_of_them_anew() -> None:
    counter = Doubling(horizon=300, rho=1, person=ONCE, each=Recipe("BufferedToeplitz", buffers=2))
    assert [kind.horizon for kind in counter.kinds()] == [1, 16, 256, 4096]
    frozen = counter.frozen()
    again = Doubling(horizon=300, rho=1, person=ONCE, each=frozen.each)
    assert again == frozen == frozen.frozen()
    assert again != counter
    assert repr(again) == repr(counter)
    assert [again.part(number) for number in range(4)] == list(counter.kinds())


def test_a_frozen_recipe_makes_what_was_frozen_at_its_horizon_and_nothing_else() -> None:
    plain = BinaryTree(horizon=4, rho=1, person=ONCE, estimate="plain")
    recipe = Recipe("BinaryTree").froze([plain])
    assert recipe.made(4, None, Fraction(1), ONCE) == plain
    assert recipe.made(5, None, Fraction(1), ONCE) == BinaryTree(horizon=5, rho=1, person=ONCE)


def test_windows_have_one_kind_of_counter() -> None:
    week = Tumbling(window=7, rho=1, person=ONCE, each=Recipe("BufferedToeplitz", buffers=2))
    assert week.kinds() == (week.part(0),) == week.frozen().kinds()
