"""A table that is held under Jali's protection for the lab."""

from __future__ import annotations

import gc
import math

import numpy as np
import pyarrow as pa
import pytest

import jali
from jali.lab.attacks.attack_base import Setting
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracles.census_block import PrivateAgency
from jali.lab.attacks.oracles.protected_table import PeopleFile, Promise, ProtectedTable, write_count
from jali.privacy import Adjacency, Budget

_TINY = Promise(Budget(10**4))  # noise of scale 1e-4 on a count is 0 but with probability e^-10000


def test_whole_numbers_and_texts_are_written_as_such() -> None:
    held = ProtectedTable(PeopleFile({"age": [7, 30, 31], "name": ["1", "it's", ""]}), _TINY, questions=3)
    conditions = ["age >= 30", "name = '1'", "name = 'it''s' AND age = 30"]
    assert held.counts(map(write_count, conditions)).tolist() == [2, 1, 1]


def test_the_file_is_gone_when_nobody_holds_it() -> None:
    people = PeopleFile({"age": range(3)})
    held = ProtectedTable(people, _TINY)
    assert people.path.exists()
    del held
    gc.collect()
    assert not people.path.parent.exists()


def test_the_budget_is_spread_with_a_ledger_and_spent_each_time_without() -> None:
    kept, broken = (
        ProtectedTable(PeopleFile({"age": range(3)}), Promise(Budget(1), kept=kept)) for kept in (True, False)
    )
    prices = []
    for held in (kept, broken):
        held.offer(4)
        held.ask(write_count("age > 1"))
        held.offer(3)
        prices.append(held.price)
    assert prices == [jali.Budget("0.25").epsilon, 1]
    assert str(kept.promise) == "Jali with a budget of epsilon=1, delta=0"
    assert str(broken.promise) == "Jali without its ledger, claiming epsilon=1, delta=0"


def test_the_refusal_is_the_first_one_and_counts_the_answers_before_it() -> None:
    held = ProtectedTable(PeopleFile({"age": range(3)}), Promise(Budget(1), each=jali.Budget("0.4").epsilon))
    texts = [write_count(f"age > {age}") for age in range(5)]
    assert len(held.counts(texts)) == 2
    assert held.ask(texts[4]) is None
    refusal = held.refusal([write_count("TRUE")])
    assert refusal is not None
    assert refusal.after == 2


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_noise_of_numbers_that_leave_together_has_the_standard_deviation_of_a_cube(
    adjacency: Adjacency,
) -> None:
    """The plan is read by hand: a radius of Gamma(d + 1) spread evenly has variance (d + 1)(d + 2)/3."""
    agency = PrivateAgency.of(Setting(7, Noise("none"), "jali", adjacency=adjacency, seed=1))
    block = pa.table({"age": np.arange(7)})
    database = jali.connect()
    columns = {"age": jali.Range(0, 115)}
    database.protect("block", block, unit=None, columns=columns, budget=Budget(1), adjacency=adjacency, rows=7)
    question = "SELECT COUNT(*), MEDIAN(age), AVG(age) FROM block WHERE age BETWEEN 18 AND 64"
    joint = database.explain(question, epsilon=agency.table.price).parts[0].mechanisms
    spread = math.sqrt((len(joint) + 1) * (len(joint) + 2) / 3) / float(joint[0].loss.event.epsilon or 0)
    assert agency.noise.kind == "laplace"
    assert agency.noise.stddev == pytest.approx(spread, rel=1e-3)
