"""What two runs lose: every exact number that met noise in one is compared with its counterpart in the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.loss import laws
from tests.loss.chosen import Pair
from tests.loss.laws import NO_LOSS, Loss
from tests.loss.marks import MarkRanks
from tests.loss.seen import Call, Choice, Draw, Joint, Noise, Pick, Quantile, chains

# With so many marks the law of permute-and-flip is computed for each.
_FEW_MARKS = 40


class ViolationError(AssertionError):
    """Two neighbours can be told apart better than was paid for."""


@dataclass
class Total:
    """What two runs lose.

    Attributes:
        loss: By all releases, for groups that both runs may show.
        laplace: For each release by Laplace noise how far it moves and its scale, and the epsilons of all others:
            what is needed to compose them as laws.
        coins: For each choice by coins, the two chances of each group that may be shown in one run.
        alone: For each run, with what probability it shows groups that the other one cannot show and that noisy
            counts decide.
    """

    loss: Loss = NO_LOSS
    laplace: list[tuple[Fraction, Fraction]] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    coins: list[list[Pair]] = field(default_factory=list)
    alone: tuple[list[Decimal], list[Decimal]] = field(default_factory=lambda: ([], []))

    def add(self, loss: Loss) -> None:
        """Add a release that is no Laplace noise."""
        self.loss += loss
        if loss.epsilon:
            self.others.append(float(loss.epsilon))

    def add_noise(self, kind: str, width: Fraction, moves: list[int]) -> None:
        """Add a release by independent noise."""
        if kind == "gaussian":
            self.add(laws.gaussian(moves, width))
            return
        self.loss += laws.laplace(moves, width)
        moved = Fraction(sum(map(abs, moves)))
        if moved:
            self.laplace.append((moved, width))


def compare(one: Sequence[Draw], other: Sequence[Draw]) -> Total:
    """Compare all that two runs drew, or fail if more than exact numbers and chosen groups is different."""
    total = Total()
    _same("plans", len(one), len(other))
    for a, b in zip(one, other, strict=True):
        _same("kinds of choices", a.choice is None, b.choice is None)
        if a.choice is not None and b.choice is not None:
            _chosen(total, a, b, a.choice, b.choice)
        else:
            _known(total, a, b)
    return total


def _same(what: str, one: Any, other: Any) -> None:
    if one != other:
        raise ViolationError(f"{what} depend on the data: {one} and {other}")


def _known(total: Total, one: Draw, other: Draw) -> None:
    """Groups are known: every release is compared place by place."""
    _same("releases", [call.public for call in one.calls], [call.public for call in other.calls])
    for a, b in zip(one.releases(), other.releases(), strict=True):
        _same("calls of a release", len(a), len(b))
        _release(total, a, b)


def _release(total: Total, one: list[Call], other: list[Call]) -> None:
    first, second = one[0], other[0]
    if isinstance(first, Noise) and isinstance(second, Noise):
        total.add_noise(first.kind, first.width, _moves(first.exact, second.exact))
    elif isinstance(first, Joint) and isinstance(second, Joint):
        rows = zip(first.exact, second.exact, strict=True)
        total.add(laws.cube([_moves(a, b) for a, b in rows], first.rate))
    elif isinstance(first, Quantile):
        for a, b in zip(one, other, strict=True):
            total.add(_quantile(a, b))
    else:
        for left, right in zip(chains(one), chains(other), strict=True):
            total.add(_picks(left, right))


def _moves(one: Sequence[int], other: Sequence[int]) -> list[int]:
    return [a - b for a, b in zip(one, other, strict=True)]


def _quantile(one: Any, other: Any) -> Loss:
    """A mark: exponents that move, at every mark among few, or where their differences begin and end."""
    assert isinstance(one, Quantile)
    assert isinstance(other, Quantile)
    if one.column == other.column:
        return NO_LOSS
    ranks = [MarkRanks(quantile.column, quantile.aim) for quantile in (one, other)]
    aim = one.aim
    few = aim.last - aim.first < _FEW_MARKS
    marks = range(aim.first, aim.last + 1) if few else sorted(ranks[0].telling() | ranks[1].telling())
    exponents = []
    for quantile, own in zip((one, other), ranks, strict=True):
        distances = [quantile.ranks.distance(mark) for mark in marks]
        assert distances == [own.distance(mark) for mark in marks], f"other distances than of {quantile}"
        exponents.append([quantile.rate * distance for distance in distances])
    if one.kind == "nested" or not few:
        bound = laws.exponential([b - a for a, b in zip(*exponents, strict=True)])
        return bound if one.kind == "nested" else laws.pure(bound.epsilon)
    return laws.flips(*exponents)


def _picks(one: list[Pick], other: list[Pick]) -> Loss:
    """Candidates, one after the other."""
    for chain in (one, other):
        for before, after in pairwise(chain):
            _check_left(before, after)
    first, second = one[0].exponents, other[0].exponents
    return NO_LOSS if first == second else laws.picks(one[0].kind, first, second, len(one))


def _check_left(before: Pick, after: Pick) -> None:
    """Fail if a later pick is not among those that were left, by the same exponents up to a shift."""
    gone = len(before.exponents) // 2
    left = before.exponents[:gone] + before.exponents[gone + 1 :]
    shifts = {a - b for a, b in zip(left, after.exponents, strict=True)}
    assert len(shifts) == 1, "a later pick looks at other scores"


def _chosen(total: Total, one: Draw, other: Draw, first: Choice, second: Choice) -> None:
    """Groups are chosen: what is told of those that both runs may show is compared, by their names."""
    _same("choices of groups", first.law, second.law)
    _groups(total, first, second)
    if not (first.names and second.names):
        return
    sides = [list(draw.releases()) for draw in (one, other)]
    shapes = [[_shape(run, draw) for run in side] for draw, side in zip((one, other), sides, strict=True)]
    _same("releases of chosen groups", *shapes)
    both = [name for name in one.order if name in set(other.order)]
    if both:
        for a, b in zip(*sides, strict=True):
            _release(total, _of_groups(a, one, both), _of_groups(b, other, both))


def _groups(total: Total, first: Choice, second: Choice) -> None:
    """A group that only one run can show is shown by it with some probability; of others the counts are told."""
    if first.threshold is None:
        chances = [choice.by_name(choice.chances) for choice in (first, second)]
        none = Decimal(0)
        names = dict.fromkeys((*first.names, *second.names))
        total.coins.append([(chances[0].get(name, none), chances[1].get(name, none)) for name in names])
        return
    people = [choice.by_name(choice.people) for choice in (first, second)]
    moves = [count - people[1][name] for name, count in people[0].items() if name in people[1]]
    total.add_noise(first.threshold.noise, first.threshold.width, moves)
    for mine, choice, theirs in zip(total.alone, (first, second), (people[1], people[0]), strict=True):
        mine += [chance for name, chance in choice.by_name(choice.chances).items() if name not in theirs]


def _shape(run: list[Call], draw: Draw) -> tuple[Any, ...]:
    """What may be seen of a release, without the number of groups."""
    call, groups = run[0], len(draw.order)
    if isinstance(call, Noise):
        return call.kind, call.width, Fraction(len(call.exact), groups)
    if isinstance(call, Joint):
        return "joint", call.rate, len(call.exact[0]), Fraction(len(call.exact), groups)
    return (*sorted({repr(one.public) for one in run}), Fraction(len(run), groups))


def _of_groups(run: list[Call], draw: Draw, names: list[str]) -> list[Call]:
    """Return a release as if the groups of these names were all there are."""
    places, groups = [draw.order.index(name) for name in names], len(draw.order)
    call = run[0]
    if isinstance(call, Noise):
        width = len(call.exact) // groups
        kept = [value for i in places for value in call.exact[i * width : (i + 1) * width]]
        return [Noise(call.kind, call.width, tuple(kept))]
    if isinstance(call, Joint):
        return [Joint(call.rate, tuple(call.exact[i] for i in places))]
    each = [[one] for one in run] if isinstance(call, Quantile) else [list(chain) for chain in chains(run)]
    # One group after the other; where two draws are of one mechanism, one draw after the other.
    rounds = len(each) // groups
    return [one for turn in range(rounds) for i in places for one in each[turn * groups + i]]
