"""Reconstruction from published tables: the published example, brute force on small blocks, and private tables."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from tests.depth import deep, thinned

from jali.errors import CatalogError
from jali.lab.attacks import Tables
from jali.lab.attacks.arrays import Bits
from jali.lab.attacks.attack_base import Setting
from jali.lab.attacks.evidence import ceiling, count_flips, lower_bound
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracle import Spent
from jali.lab.attacks.oracles.census_block import CensusBlock, PrivateAgency, SuppressingAgency
from jali.lab.attacks.staging import stage
from jali.lab.attacks.tables.integer_program import (
    IntegerProgram,
    SearchTime,
    _find_totals,
    build_constraints,
    find_likeliest_people,
    find_solutions,
)
from jali.lab.attacks.tables.published_tables import (
    AGE,
    CODES,
    LIKELIHOOD,
    PUBLISHED_CELLS,
    SEX,
    CellStatistic,
    CensusCell,
    TableRelease,
    compute_chance,
    describe_people,
    list_codes,
    list_commonest,
    publish_exact,
    tally,
)
from jali.privacy import Adjacency

# Garfinkel, Abowd, Martindale 2019, Table 1: count, median and mean, in the order of CELLS; withheld below 3.
TABLE = (
    *((7, 30, 38.0), (4, 30, 33.5), (3, 30, 44.0), (4, 51, 48.5), (3, 24, 24.0)),
    *(None, (4, 51, 54.0), (3, 36, 36.7), None, None, None, None, None, None),
)
# And the only block that agrees with it.
BLOCK = ("8FBS", "18MWS", "24FWS", "30MWM", "36FBM", "66FBM", "84MBM")


def code(person: str) -> int:
    """Read a person such as 8FBS."""
    sex, race, status = (
        letters.index(letter) for letters, letter in zip(("FM", "BW", "SM"), person[-3:], strict=True)
    )
    return 8 * int(person[:-3]) + 4 * sex + 2 * race + status


def codes(*people: str) -> Bits:
    return np.array([code(person) for person in people], np.int16)


def test_the_published_example_has_one_solution_and_it_is_found() -> None:
    told = [
        CellStatistic(cell, *(numbers or (None, None, None)))
        for cell, numbers in zip(PUBLISHED_CELLS, TABLE, strict=True)
    ]
    found = find_solutions(build_constraints(TableRelease(7, tuple(told), threshold=3)), 7, limit=2)
    assert found is not None
    assert found.unique
    assert list_codes(found.blocks[0]).tolist() == codes(*BLOCK).tolist()
    assert list_codes(found.determined).tolist() == codes(*BLOCK).tolist()


def test_the_agency_publishes_the_published_example() -> None:
    release = SuppressingAgency(codes(*BLOCK)).publish()
    numbers = [None if told.count is None else (told.count, told.median, told.mean) for told in release.statistics]
    assert tuple(numbers) == TABLE


def women(n: int, median: float, mean: float) -> TableRelease:
    """Tell about n single black women, and that there is nobody else."""
    nobody = (
        CellStatistic(CensusCell(sex="male")),
        CellStatistic(CensusCell(race="white")),
        CellStatistic(CensusCell(status="married")),
    )
    return TableRelease(n, (CellStatistic(CensusCell(), n, median, mean), *nobody), threshold=1)


@thinned(4)
@pytest.mark.parametrize(
    ("n", "median", "total"), [(2, 2.5, 5), (3, 3, 11), (3, 0, 2), (4, 2, 9), (4, 2.5, 11), (5, 1, 9), (6, 1, 8)]
)
def test_the_solutions_are_those_of_brute_force(n: int, median: float, total: int) -> None:
    ages = itertools.combinations_with_replacement(range(total + 1), n)
    expected = {one for one in ages if sum(one) == total and statistics.median(one) == median}
    found = find_solutions(build_constraints(women(n, median, round(total / n, 1))), n, limit=100)
    assert found is not None
    assert found.complete
    assert {tuple(np.repeat(AGE, block).tolist()) for block in found.blocks} == expected
    in_all = [min(one.count(age) for one in expected) for age in range(116)]
    assert np.bincount(AGE, weights=found.determined, minlength=116).tolist() == in_all


@pytest.mark.parametrize("count", [1, 3, 7, 10, 20, 100])
def test_a_rounded_mean_allows_the_totals_that_round_to_it(count: int) -> None:
    def mean(total: int) -> float:
        return float((Decimal(total) / count).quantize(Decimal("0.1"), ROUND_HALF_EVEN))

    for total in range(33 * count, 34 * count):
        allowed = [other for other in range(40 * count) if mean(other) == mean(total)]
        assert _find_totals(mean(total), count) == (allowed[0], allowed[-1])


@thinned(4)
@pytest.mark.parametrize("seed", [2, 11, 13, 18])
def test_what_is_determined_is_true_and_every_solution_has_the_same_tables(seed: int) -> None:
    agency = SuppressingAgency.of(7, seed=seed)
    release = agency.publish()
    found = find_solutions(build_constraints(release), 7, limit=3)
    assert found is not None
    assert all(publish_exact(block, 3) == release for block in found.blocks)
    assert len({tuple(block) for block in found.blocks}) == len(found.blocks)
    assert (found.determined <= tally(agency.codes)).all()
    if found.unique:
        assert agency.mark(list_codes(found.blocks[0])) == 7


def test_three_twins_could_be_one_of_them_and_two_others() -> None:
    """Ages (30-k, 30, 30+k) have the same tables while all are adults: k from 0 to 12."""
    twins = SuppressingAgency(codes("30FBM", "30FBM", "30FBM"))
    found = find_solutions(build_constraints(twins.publish()), 3, limit=20)
    assert found is not None
    assert found.complete
    assert len(found.blocks) == 13
    assert list_codes(found.determined).tolist() == codes("30FBM").tolist()
    short = find_solutions(build_constraints(twins.publish()), 3, limit=5)
    assert short is not None
    assert not short.complete
    assert len(short.blocks) == 5


def test_people_are_marked_in_any_order_and_each_once() -> None:
    block = CensusBlock(codes("30FBM", "30FBM", "8MWS"))
    assert block.mark(codes("8MWS", "30FBM", "30FBM")) == 3
    assert block.mark(codes("8MWS", "8MWS", "8MWS")) == 1
    assert block.mark(codes("30FBM", "30FBM", "30FBM")) == 2
    assert block.mark(1 - block.codes) == 0
    assert describe_people(block.codes)[-1] == "8, male, white, single"


def test_without_a_release_the_commonest_people_are_guessed() -> None:
    """A guess is right with the chance that somebody in the block is like the guessed one; the bound is close."""
    guess = LIKELIHOOD[list_commonest(7) == 1]
    expected = float((1 - (1 - guess) ** 7).sum() / 7)
    assert expected < compute_chance(7) < 1.02 * expected
    assert compute_chance(7) == pytest.approx(np.sort(LIKELIHOOD)[-7:].sum())
    assert LIKELIHOOD.sum() == pytest.approx(1)


def test_a_result_has_the_chance_of_people_and_not_of_bits() -> None:
    result = stage("tables", seed=11).run()
    assert (result.right, result.guessed, result.figures["unique"]) == (7, 7, 1)
    assert result.baseline == compute_chance(7)
    least = 0.05 ** (1 / 7)  # of Clopper and Pearson, if all are right
    odds = least / (1 - least) * (1 - compute_chance(7)) / compute_chance(7)
    assert result.epsilon_lower_bound.epsilon == pytest.approx(math.log(odds))
    assert "7 people right" in repr(result)


@deep
def test_the_chance_of_many_values_gives_the_ceiling_of_randomized_response() -> None:
    """Telling the truth among k values with odds e^eps is where most is guessed: the bound is wrong in 5 %."""
    values, guessed = 50, 40
    for epsilon in (0.5, 2.0, 5.0):
        share = math.exp(epsilon) / (math.exp(epsilon) + values - 1)
        assert ceiling(epsilon, Adjacency.REPLACE_ONE, chance=1 / values) == pytest.approx(share)
        bounds = [
            lower_bound(right, guessed, Adjacency.REPLACE_ONE, chance=1 / values).epsilon
            for right in range(guessed + 1)
        ]
        masses = scipy.stats.binom.pmf(np.arange(guessed + 1), guessed, share)
        assert sum(mass for bound, mass in zip(bounds, masses, strict=True) if bound > epsilon) <= 0.05
    assert count_flips(Adjacency.ADD_REMOVE) * lower_bound(
        40, 40, Adjacency.ADD_REMOVE, chance=1 / values
    ).epsilon == pytest.approx(lower_bound(40, 40, Adjacency.REPLACE_ONE, chance=1 / values).epsilon)


@deep
def test_private_tables_leave_the_people_unknown() -> None:
    """No more people are right than the ceiling allows; a false alarm has a chance below 1e-6."""
    result = stage("tables", against="jali", trials=2, seed=1).run()
    assert result.ceiling == pytest.approx(ceiling(1, Adjacency.REPLACE_ONE, chance=compute_chance(7)))
    assert result.right <= scipy.stats.binom.isf(1e-6, result.guessed, result.ceiling)
    assert result.spent == 1
    assert result.refusal is not None
    assert result.refusal.after == len(PUBLISHED_CELLS) == result.questions


def test_after_a_refusal_the_attack_goes_on_with_the_tables_that_it_has() -> None:
    setting = Setting(5, Noise("none"), "jali", each=Fraction(2, 5), seed=1)
    agency = PrivateAgency.of(setting)
    guess = Tables().guess(agency)
    assert (len(guess.bits), guess.questions) == (5, 2)
    assert agency.spent() == Spent(Fraction(4, 5))
    refusal = agency.refusal()
    assert refusal is not None
    assert refusal.after == 2


def test_what_nobody_told_is_guessed_by_what_is_common() -> None:
    assert LIKELIHOOD @ find_likeliest_people(TableRelease(7, (), threshold=0, weight=1.0)) == pytest.approx(
        compute_chance(7)
    )


def test_the_guess_follows_private_tables_as_far_as_they_are_trusted() -> None:
    told = (CellStatistic(CensusCell(sex="male"), 6.9), CellStatistic(CensusCell(), 7, 40, 41.0))
    people = list_codes(find_likeliest_people(TableRelease(7, told, threshold=0, weight=100.0)))
    sexes, ages = (column[np.searchsorted(CODES, people)] for column in (SEX, AGE))
    assert sexes.sum() == 7
    assert abs(ages.mean() - 41) < 0.5
    assert abs((ages > 40).sum() - (ages < 40).sum()) <= 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n": 101}, "n must be at most 100 for tables"),
        ({"noise": "uniform:1"}, "publishes exact tables"),
        ({"parameters": {"threshold": 0}}, "threshold"),
        ({"parameters": {"limit": 0}}, "limit"),
        ({"parameters": {"patience": 0}}, "patience"),
        ({"against": "unledgered"}, "unledgered"),
        ({"against": "jali", "delta": "1e-6"}, "must be a pure epsilon"),
    ],
)
def test_wrong_settings_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(CatalogError, match=said):
        stage("tables", **given).run()  # type: ignore[arg-type]


def test_a_search_without_patience_proves_nothing() -> None:
    agency = SuppressingAgency.of(20, seed=1)
    guess = Tables(patience=1e-6).guess(agency)
    assert guess.bits.tolist() == list_codes(list_commonest(20)).tolist()
    assert "unique" not in guess.figures


def test_a_second_search_that_takes_too_long_leaves_the_first_solution_unproved() -> None:
    class Impatient(IntegerProgram):
        def solve(self, *, seconds: float = math.inf, nodes: int | None = None) -> Bits | None:
            if self.variables > variables:  # what is missing from the first solution is an unknown of its own
                raise TimeoutError
            return super().solve(seconds=seconds, nodes=nodes)

    program = build_constraints(women(3, 3, 4.0))
    variables = program.variables
    program.__class__ = Impatient
    found = find_solutions(program, 3, limit=5)
    assert found is not None
    assert len(found.blocks) == 1
    assert not found.unique
    assert not found.determined.any()


def test_tables_that_contradict_each_other_are_refused() -> None:
    class Confused(SuppressingAgency):
        def publish(self) -> TableRelease:
            return women(3, 100, 1.0)

    with pytest.raises(CatalogError, match="tables: no population is consistent with these tables"):
        Tables().guess(Confused.of(3, seed=1))


def test_what_is_proved_is_told_in_words() -> None:
    proved = stage("tables", seed=11).run()
    assert proved.notes["solutions"] == "1 fits, and it is proved that there is no other"
    published, withheld = map(int, re.findall(r"\d+", proved.notes["tables"]))
    assert published + withheld == proved.questions
    assert withheld == proved.figures["tables_withheld"]
    impatient = stage("tables", seed=11, parameters={"patience": 1e-6}).run()
    assert impatient.notes["solutions"] == "none was found in 1e-06 s; the guess is what anybody would guess"


def test_people_have_no_bits_to_be_sure_of() -> None:
    result = stage("tables", seed=11).run()
    assert (result.right, result.calibration) == (7, ())


def test_all_searches_share_one_time() -> None:
    class Slow(IntegerProgram):
        def solve(self, *, seconds: float = math.inf, nodes: int | None = None) -> Bits | None:
            granted.append(seconds)
            return None

    granted: list[float] = []
    patience = SearchTime(100.0)
    for _ in range(3):
        patience.solve(Slow(most=1))
    assert 100 >= granted[0] >= granted[1] >= granted[2] > 0
    with pytest.raises(TimeoutError):
        SearchTime(-1.0).solve(Slow(most=1))
