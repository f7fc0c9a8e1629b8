"""Exact finite mechanisms, given by two probability vectors or by a channel matrix.

Everything is read off one curve. A test that answers "x" on the outcomes with the largest p(r)/q(r) has a false
positive rate Q(S) and a true positive rate P(S); the least concave curve above these points, over all neighbours
in both orders, is the loss. All of it is exact: rationals in, rationals inside, one rounding up at the end.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, TypeAlias, TypeVar, overload

from jali.errors import CatalogError, settle
from jali.numbers.exact import decimal
from jali.numbers.rounding import float_above, float_below, rational_above, round_up
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.group_privacy import ProfileGroup
from jali.privacy.rationals import Number, positive_integer, probability, share

if TYPE_CHECKING:
    from jali.privacy.pld.loss_distribution import LossDistribution

Outcome = TypeVar("Outcome", bound=Hashable)
Row: TypeAlias = tuple[Fraction, ...]
# One outcome of a pair: its probability under p and under q.
Atom: TypeAlias = tuple[Fraction, Fraction]
# One test: its false positive rate and its true positive rate.
Point: TypeAlias = tuple[Fraction, Fraction]

_ZERO, _ONE = Fraction(0), Fraction(1)
# Floats such as 1/3 miss a sum of 1 by their last digits; more than this is a mistake.
_MISSED = Fraction(1, 10**9)
# The exact curve of a longer chain takes long, and says little more than the chain of (epsilon, delta).
_LARGEST_CHAIN = 16
_PRECISION = 50
# Decimal's exp and ln are correctly rounded; quotients err by 1e-50 of themselves.
_SLACK = Decimal("1e-45")
# A representation lists at most this many probabilities.
_SHOWN = 24
# Rényi orders a = 1 + s at which rho is bounded: s grows by this factor from this start.
_FIRST, _FACTOR = 1e-3, 1.05


@dataclass(frozen=True, repr=False)
class Finite(Loss):
    """A mechanism with finitely many inputs and outcomes, known exactly.

    Made by `from_pair`, `from_channel`, `randomized_response` or `almost_random`.

    Attributes:
        rows: The law of the outcome for each input.
        neighbours: The pairs of inputs that one person's change leads between; both orders count.
        complete: Whether the rows are all inputs there are, so that groups are known exactly.

    Guarantee:
        delta(e) = max over neighbours of sum_r max(0, p(r) - exp(e) q(r)), the hockey-stick divergence: exact
        up to one rounding up. epsilon(0) = max |ln p(r)/q(r)|, infinite where one side cannot give an outcome.
    Proof:
        sum_r max(0, p - y q) = max_S P(S) - y Q(S), and the best S are the sets of largest p/q. So delta is the
        largest of the lines t - y f over the points (f, t) = (Q(S), P(S)) of all neighbours, which only the
        vertices of their concave hull from (0, 0) to (1, 1) attain. Hence epsilon(d) is ln of the largest
        (t - d) / f over the vertices, or 0. And the hull's edges are the outcomes of one pair of laws, with
        probabilities (rise, run), whose own sets of largest ratio are the hull's vertices: its profile is the
        maximum of all profiles, at every y >= 0. That pair dominates every pair of neighbours, and so do its
        compositions (Zhu, Dong and Wang 2022, Theorem 10).

    Example:
        >>> coins = Finite.almost_random()
        >>> round(coins.epsilon(0), 6), round(coins.epsilon(delta="1/4"), 6), coins.delta(0)
        (1.098612, 0.693147, 0.5)
        >>> Finite.from_pair(["1/2", "1/2", 0], ["1/2", "1/4", "1/4"]).epsilon(0)
        inf
    """

    rows: tuple[Row, ...]
    neighbours: tuple[tuple[int, int], ...]
    complete: bool

    @classmethod
    def from_pair(cls, p: Sequence[Number], q: Sequence[Number]) -> Finite:
        """Take the laws of the outcome on two neighbours: with a person, and without.

        Both orders count. In a composition all pairs must be stated in the same order.

        Numbers are read as everywhere (0.1 is 1/10) and must sum to 1 exactly. Floats may miss 1 by up to 1e-9:
        they are then taken as proportions, divided by their sum, and the loss is that of the law so defined.
        Give Fractions where the law is meant to the last digit.
        """
        laws = (_law(p, "p"), _law(q, "q"))
        if len(laws[0]) != len(laws[1]):
            raise CatalogError("finite-outcomes-differ", left=len(p), right=len(q))
        return cls(laws, ((0, 1),), complete=False)

    @classmethod
    def from_channel(
        cls, matrix: Sequence[Sequence[Number]], neighbours: Iterable[tuple[int, int]] | None = None
    ) -> Finite:
        """Take the law of the outcome (columns) for every input (rows); numbers as in `from_pair`.

        Args:
            matrix: One row for each input.
            neighbours: Pairs of row indices, in any order; all pairs by default (local privacy).
        """
        rows = tuple(_law(row, f"matrix[{i}]") for i, row in enumerate(matrix))
        if len(rows) < 2 or len({len(row) for row in rows}) != 1:
            raise CatalogError("finite-matrix-wrong")
        pairs = combinations(range(len(rows)), 2) if neighbours is None else neighbours
        return cls(rows, _check_pairs(pairs, len(rows)), complete=True)

    @classmethod
    def randomized_response(cls, truth: Number, answers: int = 2) -> Finite:
        """Give the true answer with probability `truth`, else each of the others alike.

        Example:
            >>> round(Finite.randomized_response("2/3", answers=3).epsilon(0), 9)
            1.386294361
        """
        p, count = share(truth, "truth"), positive_integer(answers, "answers")
        if count < 2:
            raise CatalogError("finite-answers-too-few")
        lie = (1 - p) / (count - 1)
        return cls.from_channel([[p if i == j else lie for j in range(count)] for i in range(count)])

    @classmethod
    def almost_random(cls) -> Finite:
        """Flip a coin: heads, answer truthfully; tails, answer by a second coin. The loss is ln 3."""
        return cls.randomized_response(Fraction(3, 4))

    def __repr__(self) -> str:
        if len(self.rows) * len(self.rows[0]) > _SHOWN:
            return f"Finite({len(self.rows)} inputs, {len(self.rows[0])} outcomes)"
        shown = ("[" + ", ".join(map(decimal, row)) + "]" for row in self.rows)
        return f"Finite({', '.join(shown)})"

    @cached_property
    def _laws(self) -> tuple[tuple[Atom, ...], ...]:
        """The distinct pairs of laws, in both orders, outcomes of one ratio merged."""
        pairs = [(self.rows[i], self.rows[j]) for i, j in self.neighbours]
        ordered = [pair for p, q in pairs for pair in ((p, q), (q, p))]
        return tuple(dict.fromkeys(_atoms(_hull(_tests(p, q))) for p, q in ordered))

    @cached_property
    def _curve(self) -> tuple[Point, ...]:
        """The concave hull of all tests: (false positive rate, true positive rate)."""
        return _hull(point for law in self._laws for point in _tests(*zip(*law, strict=True)))

    @cached_property
    def _bound(self) -> float:
        return self._least_epsilon(_ZERO)

    def _delta(self, epsilon: float) -> float:
        if epsilon >= self._last:
            return float_above(self._infinite)
        odds = _exp_below(epsilon)
        return float_above(max(tpr - odds * fpr for fpr, tpr in self._curve))

    @cached_property
    def _infinite(self) -> Fraction:
        """The largest probability of an outcome that the other side cannot give."""
        return _height(self._curve, _ZERO)

    @cached_property
    def _last(self) -> float:
        """The largest finite loss, rounded up."""
        return _log_above(max(_ONE, *(p / q for p, q in _atoms(self._curve) if q)))

    def epsilon(self, delta: Number) -> float:
        """Return the least epsilon at delta: ln of the largest (t - delta) / f over the vertices, rounded up."""
        return self._least_epsilon(probability(delta, "delta"))

    def _epsilon(self, delta: float) -> float:
        return self._least_epsilon(Fraction(delta))

    def _least_epsilon(self, delta: Fraction) -> float:
        if delta < self._infinite:
            return math.inf
        return _log_above(max(_ONE, *((tpr - delta) / fpr for fpr, tpr in self._curve if fpr)))

    def fnr(self, fpr: Number) -> float:
        """Return the least false negative rate at a false positive rate: one minus the curve, rounded down."""
        return float_below(1 - _height(self._curve, share(fpr, "fpr")))

    def tpr(self, fpr: Number) -> float:
        """Return the largest true positive rate at a false positive rate: the curve, rounded up."""
        return float_above(_height(self._curve, share(fpr, "fpr")))

    def _renyi(self, order: float) -> float:
        """Return the largest Rényi divergence of an order above 1 over all neighbours, rounded up."""
        if not order > 1:
            raise CatalogError("parameter-not-above-one", value=order, name="order")
        if math.isinf(self._bound):
            return math.inf
        # For small losses the sum cancels; the bound order * epsilon^2 / 2 does not.
        found = max(_divergence(masses, losses, order) for masses, losses in self._floats)
        return min(self._bound, round_up(order * self._bound**2 / 2), found)

    @cached_property
    def _floats(self) -> tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]:
        """Masses and losses of each pair, where the loss is finite."""
        kept = [[(p, q) for p, q in law if p and q] for law in self._laws]
        return tuple((tuple(float(p) for p, _ in law), tuple(_log(p / q) for p, q in law)) for law in kept)

    @property
    def event(self) -> Event:
        """Epsilon rounded up, and a bound on rho that is at most epsilon squared over two."""
        if math.isinf(self._bound):
            raise CatalogError("loss-epsilon-infinite", loss=settle(self), delta=float_above(self._infinite))
        epsilon = rational_above(self._bound)
        return Event(epsilon, min(epsilon**2 / 2, rational_above(self._rho)))

    @cached_property
    def _rho(self) -> float:
        """Return a bound on D_a / a over all orders a > 1.

        K(s) = s D_(1+s) is convex with K(0) = 0 (it is the cumulant generating function of the loss), so
        between two orders it lies below its chord A + B s, and D_a / a below the largest
        (A + B s) / (s (1+s)) there. Beyond the last order D_a <= epsilon. At most 0.2 % above the truth.
        """
        if self._bound == 0:
            return 0.0
        # Before the first order D_a grows with a.
        best = self._renyi(1 + _FIRST)
        left, low = _FIRST, best * _FIRST
        while self._bound / (1 + left) > best:
            right = left * _FACTOR
            high = right * self._renyi(1 + right)
            best = max(best, _steepest(left, low, right, high))
            left, low = right, high
        return round_up(best)

    def group(self, size: int) -> Finite | ProfileGroup:
        """Return the loss of `size` people who change together.

        Guarantee:
            With all inputs known: exactly, the inputs within `size` steps of each other. For a bare pair: the
            curve g(g(...g(f))), g applied `size` times. A test with rates (f, t) of the first against the
            second input has t <= g(f); it is a test of the second against the third, with t' <= g(t); and so on
            (Dong, Roth and Su 2019, Theorem 2.14). As g(f) <= e^e f + delta(e) for every e, this is never worse
            than size * epsilon or the (epsilon, delta) form of group privacy, which is taken for more than 16
            people. A channel has the input of one person: `almost_random` of two people is two releases.

        Example:
            >>> two = Finite.from_pair([0.75, 0.25], [0.25, 0.75]).group(2)
            >>> round(math.exp(two.epsilon(0)), 12), two.delta(0)
            (9.0, 0.6666666666666667)
        """
        people = self._check_size(size)
        if people == 1:
            return self
        if self.complete:
            return Finite(self.rows, _within(self.neighbours, people), complete=True)
        if people > _LARGEST_CHAIN:
            return ProfileGroup(self, people)
        curve = self._curve
        for _ in range(people - 1):
            curve = _chain(curve, self._curve)
        return _pair_of(curve)

    def dominating_pair(self) -> Finite:
        """Return one pair of laws whose profile is the largest of all neighbours', in both orders.

        Example:
            >>> Finite.almost_random().dominating_pair().rows
            ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
        """
        return _pair_of(self._curve)

    def after(self, kernel: Sequence[Sequence[Number]]) -> Finite:
        """Return the mechanism whose outcome r is replaced by a draw from row r of `kernel`.

        Guarantee:
            Post-processing, also by a randomized function, never costs: every loss of the result is at most
            this one's (a test after the kernel is a test before it, so the curve can only fall).

        Example:
            >>> coins = Finite.almost_random()
            >>> coins.after([[1, 0], [0, 1]]) == coins, coins.after([[0.5, 0.5], [0.5, 0.5]]).epsilon(0)
            (True, 0.0)
        """
        rows = tuple(_law(row, f"kernel[{i}]") for i, row in enumerate(kernel))
        if len(rows) != len(self.rows[0]) or len({len(row) for row in rows}) != 1:
            raise CatalogError("finite-kernel-wrong", count=len(self.rows[0]))
        return Finite(tuple(_push(row, rows) for row in self.rows), self.neighbours, complete=self.complete)

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the law of the loss of the pair that dominates all neighbours in both orders.

        Releases share no order: one may take the person from p to q and the next from q to p, so only a law
        that dominates both orders composes.
        """
        return (_spread(_atoms(self._curve)),)

    def attained(self) -> tuple[LossDistribution, ...]:
        """Return the laws of the neighbours themselves, in both orders."""
        return tuple(_spread(law) for law in self._laws)


@overload
def privacy_loss(p: Mapping[Outcome, Number], q: Mapping[Outcome, Number]) -> dict[Outcome, float]: ...
@overload
def privacy_loss(p: Sequence[Number], q: Sequence[Number]) -> tuple[float, ...]: ...
def privacy_loss(
    p: Mapping[Outcome, Number] | Sequence[Number], q: Mapping[Outcome, Number] | Sequence[Number]
) -> dict[Outcome, float] | tuple[float, ...]:
    """Return the privacy loss L(r) = ln p(r)/q(r) of every outcome r, to the nearest double.

    Infinite where only p can give r, minus infinite where only q can. An outcome that neither can give has no
    loss: it is left out of a dictionary, and is nan in a sequence, which keeps its places.

    Args:
        p: The probabilities of the outcomes on one table: a dictionary, or a sequence.
        q: The probabilities on a neighbour, in the same form; an outcome missing in a dictionary has 0.

    Example:
        >>> privacy_loss({"yes": 0.75, "no": 0.25}, {"yes": 0.25, "no": 0.75})
        {'yes': 1.0986122886681098, 'no': -1.0986122886681098}
        >>> privacy_loss([0.5, 0.5, 0], [0.5, 0, 0.5])
        (0.0, inf, -inf)
    """
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        keys = list(dict.fromkeys([*p, *q]))
        values = privacy_loss([p.get(key, 0) for key in keys], [q.get(key, 0) for key in keys])
        return {key: value for key, value in zip(keys, values, strict=True) if not math.isnan(value)}
    if isinstance(p, Mapping) or isinstance(q, Mapping):
        raise CatalogError("finite-kinds-differ")
    rows = Finite.from_pair(p, q).rows
    return tuple(_outcome_loss(a, b) for a, b in zip(*rows, strict=True))


def _outcome_loss(p: Fraction, q: Fraction) -> float:
    if not p:
        return -math.inf if q else math.nan
    return _log(p / q) if q else math.inf


def _law(values: Sequence[Number], name: str) -> Row:
    """Return probabilities that sum to 1; only floats may miss it, by their last digits."""
    row = tuple(share(value, f"{name}[{i}]") for i, value in enumerate(values))
    total = sum(row, _ZERO)
    exact = all(isinstance(value, int | str | Decimal | Fraction) for value in values)
    if abs(total - 1) > (0 if exact else _MISSED):
        raise CatalogError("finite-sum-wrong", name=name, total=total)
    return tuple(value / total for value in row)


def _check_pairs(pairs: Iterable[tuple[int, int]], count: int) -> tuple[tuple[int, int], ...]:
    ordered = sorted({(min(i, j), max(i, j)) for i, j in pairs})
    if not ordered or any(not 0 <= i < j < count for i, j in ordered):
        raise CatalogError("finite-neighbours-wrong", last=count - 1)
    return tuple(ordered)


def _within(pairs: tuple[tuple[int, int], ...], steps: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs at most `steps` apart in the graph of neighbours."""
    near: dict[int, set[int]] = {}
    for i, j in pairs:
        near.setdefault(i, {i}).add(j)
        near.setdefault(j, {j}).add(i)
    reached = near
    for _ in range(steps - 1):
        wider = {i: set().union(*(near[j] for j in there)) for i, there in reached.items()}
        if wider == reached:
            break
        reached = wider
    return tuple(sorted((i, j) for i, there in reached.items() for j in there if i < j))


def _push(row: Row, kernel: tuple[Row, ...]) -> Row:
    columns = zip(*kernel, strict=True)
    return tuple(sum((p * k for p, k in zip(row, column, strict=True)), _ZERO) for column in columns)


def _tests(p: Row, q: Row) -> Iterator[Point]:
    """Yield the rates of the tests that accept the outcomes of largest ratio, one outcome more at a time."""
    possible = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    possible.sort(key=lambda atom: (not atom[1], atom[0] / atom[1] if atom[1] else _ZERO), reverse=True)
    fpr = tpr = _ZERO
    yield fpr, tpr
    for a, b in possible:
        fpr, tpr = fpr + b, tpr + a
        yield fpr, tpr


def _hull(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the vertices of the least concave curve above points that include (0, 0) and (1, 1)."""
    kept: list[Point] = []
    for point in sorted(set(points)):
        while len(kept) > 1 and not _turns_right(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return tuple(kept)


def _turns_right(first: Point, second: Point, third: Point) -> bool:
    run, rise = second[0] - first[0], second[1] - first[1]
    return run * (third[1] - first[1]) < rise * (third[0] - first[0])


def _atoms(curve: tuple[Point, ...]) -> tuple[Atom, ...]:
    """Return the edges of a curve as outcomes: (rise, run) = (probability under p, under q)."""
    return tuple((b[1] - a[1], b[0] - a[0]) for a, b in pairwise(curve))


def _pair_of(curve: tuple[Point, ...]) -> Finite:
    return Finite(tuple(zip(*_atoms(curve), strict=True)), ((0, 1),), complete=False)


def _height(curve: tuple[Point, ...], fpr: Fraction) -> Fraction:
    """Return the curve's largest value at a false positive rate."""
    before = max(i for i, point in enumerate(curve) if point[0] <= fpr)
    if curve[before][0] == fpr:
        return curve[before][1]
    (left, low), (right, high) = curve[before], curve[before + 1]
    return low + (high - low) * (fpr - left) / (right - left)


def _position(curve: tuple[Point, ...], tpr: Fraction) -> Fraction:
    """Return the least false positive rate at which the curve reaches a value."""
    after = min(i for i, point in enumerate(curve) if point[1] >= tpr)
    if after == 0 or curve[after][1] == tpr:
        return curve[after][0]
    (left, low), (right, high) = curve[after - 1], curve[after]
    return left + (right - left) * (tpr - low) / (high - low)


def _chain(inner: tuple[Point, ...], outer: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return the curve outer(inner(f)), which bends only where one of the two does."""
    bends = {fpr for fpr, _ in inner} | {_position(inner, fpr) for fpr, _ in outer}
    return _hull([(_ZERO, _ZERO), *((fpr, _height(outer, _height(inner, fpr))) for fpr in bends)])


def _divergence(masses: tuple[float, ...], losses: tuple[float, ...], order: float) -> float:
    """Return ln(sum p e^(s L)) / s for s = order - 1, rounded up; all losses finite."""
    s, top = order - 1, max(losses)
    if s * top < 1:
        value = math.log1p(math.fsum(p * math.expm1(s * loss) for p, loss in zip(masses, losses, strict=True))) / s
    else:
        terms = (p * math.exp(s * (loss - top)) for p, loss in zip(masses, losses, strict=True))
        value = top + math.log(math.fsum(terms)) / s
    # In both forms the rounding errors of masses, losses and exponentials add up to a few 2^-52 of `top`.
    return max(0.0, value) + 1e-14 * top


def _steepest(left: float, low: float, right: float, high: float) -> float:
    """Return the largest (A + B s) / (s (1+s)) on [left, right] for the line through two points."""
    slope = (high - low) / (right - left)
    start = low - slope * left
    # It rises up to the root of B s^2 + 2 A s + A = 0 and falls after it; for A >= 0 it falls everywhere.
    peak = (-start + math.sqrt(start * start - start * slope)) / slope if start < 0 else left
    s = min(right, max(left, peak))
    return (start + slope * s) / (s * (1 + s))


def _spread(law: tuple[Atom, ...]) -> LossDistribution:
    from jali.privacy.pld.loss_distribution import atoms

    finite = [(_log_above(p / q) if p >= q else -_log_below(q / p), float(p)) for p, q in law if p and q]
    infinite = sum((p for p, q in law if not q), _ZERO)
    return atoms([loss for loss, _ in finite], [mass for _, mass in finite], infinite=float_above(infinite))


def _exp_below(epsilon: float) -> Fraction:
    """Return a rational just below e to a power, exactly 1 at 0."""
    if epsilon == 0:
        return _ONE
    with localcontext(Context(prec=_PRECISION)):
        return Fraction(Decimal(epsilon).exp() * (1 - _SLACK))


def _log(ratio: Fraction) -> float:
    with localcontext(Context(prec=_PRECISION)):
        return float((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln())


def _log_above(ratio: Fraction) -> float:
    """Return the logarithm of a ratio of at least 1, rounded up; exact at 1."""
    return 0.0 if ratio == 1 else float_above(_log_within(ratio, _SLACK))


def _log_below(ratio: Fraction) -> float:
    return 0.0 if ratio == 1 else float_below(_log_within(ratio, -_SLACK))


def _log_within(ratio: Fraction, slack: Decimal) -> Fraction:
    with localcontext(Context(prec=_PRECISION)):
        logarithm = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        return max(_ZERO, Fraction(logarithm + slack * max(Decimal(1), logarithm)))
