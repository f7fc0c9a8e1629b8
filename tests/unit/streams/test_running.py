"""What running streams take, whatever their counter."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.unit.streams.patterns import COUNTERS as KINDS
from tests.unit.streams.patterns import made

from jali.errors import MechanismError
from jali.streams import BinaryTree, Counter, Doubling, EveryItem, Participation, SmoothTree

ONCE = Participation(adjacency="add-remove")
COUNTERS = [kind(horizon=8, epsilon=1, person=ONCE) for kind in (EveryItem, BinaryTree, SmoothTree)]


@pytest.mark.parametrize(
    "counter", [*COUNTERS, Doubling(epsilon=1, person=ONCE)], ids=lambda one: type(one).__name__
)
@pytest.mark.parametrize("increment", [2.5, 2.0, Fraction(5, 2), Decimal(2), np.float64(2)])
def test_what_is_no_integer_is_refused_with_a_remedy_that_there_is(counter: Counter, increment: Any) -> None:
    running = counter.start()
    for ask in (running.append, lambda one: running.extend([one]), lambda one: counter.release([one])):
        with pytest.raises(MechanismError, match="The increments of a stream are integers") as refused:
            ask(increment)
        assert "step=" not in str(refused.value)
        assert "whole units" in str(refused.value)
    assert running.tick == 0


@pytest.mark.parametrize("increment", [3, np.int8(3), True, 2**70, np.uint64(3)])
def test_integers_of_every_type_are_taken(increment: Any) -> None:
    running = COUNTERS[0].start()
    assert abs(running.append(increment) - int(increment)) < 1e3 + int(increment) / 1e9


@pytest.mark.parametrize("state", [{}, None, 7, "", "[]", "{}", "{", '{"tick": 3}', "null"])
def test_what_is_no_state_is_refused_in_words_that_tell_nothing_of_it(state: Any) -> None:
    every = [made(kind, 8, ONCE) for kind in KINDS]
    for counter in [*every, Doubling(epsilon=1, person=ONCE)]:
        with pytest.raises(MechanismError, match="This is no state of a stream of this counter") as refused:
            counter.resume(state)
        assert "3" not in str(refused.value)
