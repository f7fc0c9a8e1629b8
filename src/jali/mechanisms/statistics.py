"""Sensitivities of common statistics, each with its norms and for a stated adjacency.

Every person owns one record. Values are counts, or fractions of a public number of people: a fraction has the
sensitivity 1/people only where people is public, that is under replace-one. Under add-remove a mean has no such
sensitivity: release a sum and a count instead.
"""

from __future__ import annotations

from fractions import Fraction

from jali.errors import MechanismError
from jali.mechanisms.base import read_natural
from jali.mechanisms.global_sensitivity import Root, Sensitivity
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, rational

AnyAdjacency = str | Adjacency


def count(*, adjacency: AnyAdjacency) -> Sensitivity:
    """Return the sensitivity of the number of records with a property: 1.

    Proof:
        docs/proofs/sensitivity.md, as for all statistics here.

    Example:
        >>> count(adjacency="add-remove").l1
        Fraction(1, 1)
    """
    return _alike(1, Adjacency.of(adjacency))


def proportion(*, people: int, adjacency: AnyAdjacency) -> Sensitivity:
    """Return the sensitivity of the share of records with a property: 1/people.

    Example:
        >>> proportion(people=200, adjacency="replace-one").l1
        Fraction(1, 200)
    """
    return _per_person(_alike(1, _with_public_size(adjacency, "proportion")), people)


def total(*, low: Number, high: Number, adjacency: AnyAdjacency) -> Sensitivity:
    """Return the sensitivity of a sum of values clamped to [low, high].

    A record that comes or goes moves it by max(|low|, |high|), one that is replaced by high - low.

    Example:
        >>> total(low=-5, high=20, adjacency="add-remove").l1
        Fraction(20, 1)
        >>> total(low=-5, high=20, adjacency="replace-one").l1
        Fraction(25, 1)
    """
    least, most = _range(low, high)
    if Adjacency.of(adjacency) is Adjacency.REPLACE_ONE:
        return _single(most - least, Adjacency.REPLACE_ONE)
    return _single(max(abs(least), abs(most)), Adjacency.ADD_REMOVE)


def mean(*, low: Number, high: Number, people: int, adjacency: AnyAdjacency) -> Sensitivity:
    """Return the sensitivity of the mean of values clamped to [low, high]: (high - low)/people.

    Example:
        >>> mean(low=0, high=1, people=100, adjacency="replace-one").l1
        Fraction(1, 100)
    """
    least, most = _range(low, high)
    return _per_person(_single(most - least, _with_public_size(adjacency, "mean")), people)


def histogram(*, adjacency: AnyAdjacency) -> Sensitivity:
    """Return the sensitivity of the counts of disjoint cells: one cell by 1, or two when a record moves.

    Example:
        >>> histogram(adjacency="replace-one").l1, histogram(adjacency="add-remove").l1
        (Fraction(2, 1), Fraction(1, 1))
    """
    return point_functions(adjacency=adjacency)


def point_functions(*, adjacency: AnyAdjacency, people: int | None = None) -> Sensitivity:
    """Return the sensitivity of "how many records equal x", for every x of a domain of at least two values.

    Example:
        >>> cells = point_functions(people=100, adjacency="replace-one")
        >>> cells.l1, str(cells.l2)
        (Fraction(1, 50), 'sqrt(1/5000)')
    """
    kind = _read(adjacency, people, "point function")
    touched = 2 if kind is Adjacency.REPLACE_ONE else 1
    cells = _sensitivity(touched, Fraction(1), kind, monotone=kind is Adjacency.ADD_REMOVE)
    return _per_person(cells, people)


def statistical_queries(queries: int, *, adjacency: AnyAdjacency, people: int | None = None) -> Sensitivity:
    """Return the sensitivity of the counts, or shares of people, of so many properties that may overlap.

    Example:
        >>> some = statistical_queries(3, adjacency="replace-one")
        >>> some.l1, str(some.l2), some.l_infinity
        (Fraction(3, 1), 'sqrt(3)', Fraction(1, 1))
    """
    kind = _read(adjacency, people, "share")
    return _per_person(_alike(read_natural(queries, "queries"), kind), people)


def thresholds(values: int, *, adjacency: AnyAdjacency, people: int | None = None) -> Sensitivity:
    """Return the sensitivity of "how many records are at most x", for every x of an ordered domain.

    The last threshold counts everybody. Under replace-one that is constant, so that values - 1 counts can move.

    Args:
        values: How many values the domain has; at least 2.
        adjacency: When two tables are neighbours.
        people: Their public number, if shares of people are meant rather than counts.

    Example:
        >>> thresholds(8, adjacency="replace-one").l1, thresholds(8, adjacency="add-remove").l1
        (Fraction(7, 1), Fraction(8, 1))
    """
    kind = _read(adjacency, people, "share")
    moving = read_natural(values, "values", least=2) - (kind is Adjacency.REPLACE_ONE)
    return _per_person(_alike(moving, kind), people)


def attribute_means(attributes: int, *, people: int, adjacency: AnyAdjacency) -> Sensitivity:
    """Return the sensitivity of the shares of people who have each of so many yes-or-no attributes.

    Example:
        >>> attribute_means(3, people=10, adjacency="replace-one").l1
        Fraction(3, 10)
    """
    kind = _with_public_size(adjacency, "attribute mean")
    return _per_person(_alike(read_natural(attributes, "attributes"), kind), people)


def _alike(coordinates: int, adjacency: Adjacency) -> Sensitivity:
    """So many counts, all of which one person can change by 1."""
    return _sensitivity(coordinates, Fraction(1), adjacency, monotone=adjacency is Adjacency.ADD_REMOVE)


def _single(distance: Fraction, adjacency: Adjacency) -> Sensitivity:
    return _sensitivity(1, distance, adjacency, monotone=False)


def _sensitivity(coordinates: int, distance: Fraction, adjacency: Adjacency, *, monotone: bool) -> Sensitivity:
    return Sensitivity(
        l1=coordinates * distance,
        l2=Root(coordinates * distance**2),
        l_infinity=distance,
        adjacency=adjacency,
        monotone=monotone,
    )


def _per_person(counts: Sensitivity, people: int | None) -> Sensitivity:
    return counts if people is None else counts * Fraction(1, read_natural(people, "people"))


def _read(adjacency: AnyAdjacency, people: int | None, statistic: str) -> Adjacency:
    return Adjacency.of(adjacency) if people is None else _with_public_size(adjacency, statistic)


def _with_public_size(adjacency: AnyAdjacency, statistic: str) -> Adjacency:
    kind = Adjacency.of(adjacency)
    if kind is Adjacency.ADD_REMOVE:
        raise MechanismError("statistic-needs-replace-one", statistic=statistic)
    return kind


def _range(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    least, most = rational(low, "low"), rational(high, "high")
    if least >= most:
        raise MechanismError("low-not-below-high", low=low, high=high)
    return least, most
