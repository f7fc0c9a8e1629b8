"""Concurrent composition: two interactive mechanisms whose rounds an adversary interleaves as it likes.

Each mechanism answers two questions; what it answers to the second depends on the first question and answer. All
interleavings and all adaptive choices of questions are tried, exactly. What is tested is the theorem that a
reservation of a whole stream rests on (Vadhan and Wang 2021; Lyu 2022): charged once, in whole, it may then be
mixed with anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH

F = Fraction
Law = tuple[Fraction, ...]
# The laws of an answer on x and on x'.
Answer = tuple[Law, Law]
# Questions and answers so far, of one mechanism.
Transcript = tuple[tuple[int, int], ...]
Worth = Callable[[Fraction], Fraction]


@dataclass(frozen=True)
class Interactive:
    """Two rounds, two questions each, two answers each."""

    first: tuple[Answer, Answer]
    second: tuple[Answer, ...]  # by first question, first answer, second question

    def answer(self, seen: Transcript, question: int) -> Answer:
        if not seen:
            return self.first[question]
        ((before, said),) = seen
        return self.second[4 * before + 2 * said + question]


def best(mechanisms: tuple[Interactive, ...], worth: Worth) -> Fraction:
    """Return the largest expectation under x of a worth of Q/P, over all interleavings and questions."""

    @cache
    def go(seen: tuple[Transcript, ...], ratio: Fraction) -> Fraction:
        found = worth(ratio)
        for i, mechanism in enumerate(mechanisms):
            for question in (0, 1) if len(seen[i]) < 2 else ():
                p, q = mechanism.answer(seen[i], question)
                values = [
                    a * go((*seen[:i], (*seen[i], (question, said)), *seen[i + 1 :]), ratio * b / a)
                    for said, (a, b) in enumerate(zip(p, q, strict=True))
                    if a
                ]
                found = max(found, sum(values, F(0)))
        return found

    return go(tuple(() for _ in mechanisms), F(1))


def largest_ratio(mechanisms: tuple[Interactive, ...]) -> Fraction:
    """Return the largest P/Q of any transcript, over all interleavings and questions."""

    def go(seen: tuple[Transcript, ...]) -> Fraction:
        found = F(1)
        for i, mechanism in enumerate(mechanisms):
            for question in (0, 1) if len(seen[i]) < 2 else ():
                p, q = mechanism.answer(seen[i], question)
                for said, (a, b) in enumerate(zip(p, q, strict=True)):
                    found = max(found, a / b * go((*seen[:i], (*seen[i], (question, said)), *seen[i + 1 :])))
        return found

    return go(tuple(() for _ in mechanisms))


def hockey_stick(odds: Fraction) -> Worth:
    return lambda ratio: max(F(0), 1 - odds * ratio)


def answers(least: int) -> st.SearchStrategy[Answer]:
    weights = st.tuples(st.integers(least, 5), st.integers(least, 5)).filter(any)
    laws = weights.map(lambda w: tuple(F(x, sum(w)) for x in w))
    return st.tuples(laws, laws)


def interactive(least: int) -> st.SearchStrategy[Interactive]:
    first = st.tuples(answers(least), answers(least))
    return st.builds(Interactive, first, st.tuples(*[answers(least)] * 8))


games = settings(max_examples=20 * DEPTH, deadline=None)


@games
@given(interactive(1), interactive(1))
def test_interleaved_pure_losses_add_up_and_no_more(one: Interactive, other: Interactive) -> None:
    assert largest_ratio((one, other)) <= largest_ratio((one,)) * largest_ratio((other,))


@games
@given(interactive(0), interactive(0), st.sampled_from([F(1), F(3, 2), F(3)]), st.sampled_from([F(1), F(2)]))
def test_interleaved_epsilons_and_deltas_add_up_and_no_more(
    one: Interactive, other: Interactive, odds: Fraction, others: Fraction
) -> None:
    """At e^(epsilon_1 + epsilon_2) the chance of failure is at most 1 - (1 - delta_1)(1 - delta_2)."""
    first = _both_ways(one, odds)
    second = _both_ways(other, others)
    assert best((one, other), hockey_stick(odds * others)) <= 1 - (1 - first) * (1 - second)


@games
@given(interactive(1), interactive(1), st.sampled_from([2, 3]))
def test_interleaved_renyi_divergences_add_up_and_no_more(
    one: Interactive, other: Interactive, order: int
) -> None:
    def moment(ratio: Fraction) -> Fraction:
        return ratio ** (1 - order)

    assert best((one, other), moment) <= best((one,), moment) * best((other,), moment)


def _both_ways(mechanism: Interactive, odds: Fraction) -> Fraction:
    """Return the least delta of one interactive mechanism, alone, at these odds."""
    swapped = Interactive(
        (mechanism.first[0][::-1], mechanism.first[1][::-1]), tuple(a[::-1] for a in mechanism.second)
    )
    return max(best((way,), hockey_stick(odds)) for way in (mechanism, swapped))


def coin(odds: Fraction | int) -> Answer:
    truth = F(odds) / (1 + odds)
    return (truth, 1 - truth), (1 - truth, truth)


def test_two_rounds_of_each_of_two_streams_lose_the_sum_of_all_four() -> None:
    """Odds 2 then 3, and 5 then 7, whatever was asked: all four truths together have odds 210."""
    one = Interactive((coin(2), coin(2)), (coin(3),) * 8)
    other = Interactive((coin(5), coin(5)), (coin(7),) * 8)
    assert [largest_ratio(streams) for streams in ((one,), (other,), (one, other))] == [6, 35, 210]


def test_charging_each_round_by_what_it_alone_loses_is_not_enough() -> None:
    """The first answer of this stream is a coin of its own; the second tells the secret by that coin.

    No answer by itself depends on x, yet both together do: the whole must be reserved, not single rounds.
    """
    half = F(1, 2)
    fair: Answer = ((half, half), (half, half))
    told: tuple[Answer, Answer] = (((F(1), F(0)), (F(0), F(1))), ((F(0), F(1)), (F(1), F(0))))
    stream = Interactive((fair, fair), tuple(told[said] for _ in (0, 1) for said in (0, 1) for _ in (0, 1)))
    second_alone = [sum((fair[0][said] * told[said][side][0] for said in (0, 1)), F(0)) for side in (0, 1)]
    assert second_alone == [half, half]
    assert best((stream,), hockey_stick(F(1000))) == 1


@pytest.mark.parametrize("odds", [F(2), F(5, 2)])
def test_the_sum_is_reached_by_an_adversary_that_interleaves(odds: Fraction) -> None:
    one = Interactive((coin(odds), coin(1)), (coin(1), coin(odds)) * 4)
    alone = _both_ways(one, F(1))
    both = best((one, one), hockey_stick(F(1)))
    assert alone < both <= 1 - (1 - alone) ** 2
