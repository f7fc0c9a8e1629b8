"""The terms of a question: what it may cost, and the bounds that its asker chooses. Public, all of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.errors import QueryError
from jali.privacy import Concentrated, Loss, Pure
from jali.privacy.rationals import Number, rational


@dataclass(frozen=True)
class Terms:
    """What a question may cost and how it bounds people.

    Attributes:
        loss: The loss of the whole question.
        delta: The chance, at most, that choosing groups fails to be private; 0 where none are chosen.
        max_rows: For how many rows one person may count, where it is not the declared number.
        max_groups: In how many groups one person may count.
        min_people: A group is shown only when at least so many people stand behind it.
    """

    loss: Loss
    delta: Fraction = Fraction(0)
    max_rows: int | None = None
    max_groups: int | None = None
    min_people: int | None = None


def terms_of(
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    max_rows: int | None = None,
    max_groups: int | None = None,
    min_people: int | None = None,
) -> Terms:
    """Read the terms as a question names them: exactly one of epsilon and rho."""
    if (epsilon is None) == (rho is None):
        raise QueryError("A question needs one loss.", remedy="Give epsilon=0.1, or rho=0.005 for Gaussian noise.")
    loss: Loss = Pure(epsilon) if epsilon is not None else Concentrated(rho or 0)
    chance = Fraction(0) if delta is None else rational(delta, "delta")
    if not 0 <= chance < 1:
        raise QueryError("delta is at least 0 and below 1.", remedy="Give delta=1e-9, for example.")
    for name, value in (("max_rows", max_rows), ("max_groups", max_groups), ("min_people", min_people)):
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1 << 30
        ):
            raise QueryError(f"{name} is a whole number, at least 1.", remedy=f"Give {name}=10, for example.")
    return Terms(loss, chance, max_rows, max_groups, min_people)
