"""The judge: what two runs lose by all that met noise, against what the ledger charged for the question."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from tests.loss.chosen import DIGITS, Pair, any_of, decimal, hockey_stick
from tests.loss.compared import Total, ViolationError
from tests.loss.laws import Number
from tests.loss.together import PARTS, delta_of_rho, delta_of_sum

from jali.privacy import Event

# Doubles are off by a few roundings.
SLACK = 1 + Fraction(1, 10**9)


@dataclass(frozen=True)
class Verdict:
    """Which part of what was charged the loss takes; None where nothing is charged of a kind.

    Attributes:
        how: "parts" if the losses of all releases sum to no more than was charged, "whole" if their composition is
            private as charged.
    """

    epsilon: float | None
    rho: float | None
    delta: float | None
    how: str = "parts"


def check(total: Total, charged: Event, *, batch: bool = False) -> Verdict:
    """Compare a loss with an event, or raise `ViolationError`.

    An event (epsilon, rho, delta) claims that P = (1-delta) P' + delta P'' and Q alike, where P' and Q' are
    epsilon-DP, if it has an epsilon, and rho-zCDP. Groups that noisy counts decide and only one run can show:
    given that none of them is shown the runs differ in common groups only, and one is shown with probability
    `alone`. Groups that coins decide: their choice and all that is released of common groups, which is e-DP, is
    (epsilon, d)-DP together if the choice alone is (epsilon - e, d)-DP; and what is (epsilon, d)-DP is such a
    mixture, with P' epsilon-DP and so epsilon^2/2-zCDP (Kairouz, Oh and Viswanath 2015, Theorem 3.1).
    """
    try:
        return _by_parts(total, charged)
    except ViolationError as problem:
        if not batch or charged.epsilon is None:
            raise
        return _as_a_whole(total, charged, problem)


def _by_parts(total: Total, charged: Event) -> Verdict:
    loss, alone = total.loss, max(map(any_of, total.alone))
    choices = [coins for coins in total.coins if any(p != q for p, q in coins)]
    failed = alone
    if charged.epsilon is not None:
        left = _left("epsilon", loss.epsilon, charged.epsilon)
        failed = max(failed, alone + hockey_stick([pair for coins in choices for pair in coins], left))
    # The same failures in zCDP: one choice at a time, as rho of several adds up otherwise than epsilon.
    left = _left("rho", loss.rho, charged.rho)
    if len(choices) == 1:
        failed = max(failed, alone + hockey_stick(choices[0], (2 * left).sqrt(DIGITS)))
    elif choices:
        each = decimal(charged.delta) / len(choices)
        lost = sum(_epsilon_at(coins, each) ** 2 / 2 for coins in choices)
        if lost > left:
            raise ViolationError(f"choices lose rho {float(lost)}, and {float(left)} is left")
    if failed > decimal(charged.delta * SLACK):
        raise ViolationError(
            f"groups show a person with probability {failed:.6e}, of {float(charged.delta)} charged"
        )
    return Verdict(
        _share(loss.epsilon, charged.epsilon), _share(loss.rho, charged.rho), _share(float(failed), charged.delta)
    )


def _left(kind: str, lost: Number, charged: Fraction) -> Decimal:
    """Return what is left for choosing groups after all other releases, with the slack."""
    if lost > charged * SLACK:
        raise ViolationError(f"{kind} {float(lost)} is lost and {float(charged)} is charged")
    return decimal(charged * SLACK - Fraction(lost))


def _epsilon_at(coins: list[Pair], delta: Decimal) -> Decimal:
    """Return an epsilon at which a choice fails with probability delta at most: nearly the least."""
    low, high = Decimal(0), Decimal(600)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if hockey_stick(coins, middle) <= delta else (middle, high)
    return high


def _as_a_whole(total: Total, charged: Event, problem: ViolationError) -> Verdict:
    """All releases are declared together: their composition is (epsilon, delta)-DP by a sharper theorem."""
    assert charged.epsilon is not None
    if charged.rho * SLACK < charged.epsilon**2 / 2:
        raise problem
    failed = float(max(map(any_of, total.alone)))
    for parts in PARTS:
        found = _fails_together(total, charged, float(charged.epsilon * SLACK), parts) + failed
        if found <= charged.delta * SLACK:
            return Verdict(None, None, found / float(charged.delta), "whole")
    raise ViolationError(f"{problem}; the whole fails with {found:.6e} of {float(charged.delta)}")


def _fails_together(total: Total, charged: Event, epsilon: float, parts: int) -> float:
    """Return a delta at epsilon of all releases but the failures of single choices."""
    coins = [pair for choice in total.coins for pair in choice if pair[0] != pair[1]]
    found = [1.0]
    # The choices are (e, d)-DP for every e with its own d: randomized response, and a failure.
    for e in [epsilon * turn / 16 for turn in range(16)] if coins else [0.0]:
        d = float(hockey_stick(coins, decimal(e)))
        if d < charged.delta and not math.isinf(total.loss.epsilon):
            others = [*total.others, e] if coins else total.others
            found.append(d + delta_of_sum(total.laplace, others, epsilon, parts))
    if not coins:
        found.append(delta_of_rho(float(total.loss.rho), epsilon))
    return min(found)


def _share(lost: Number, charged: Fraction | None) -> float | None:
    return None if not charged else float(lost) / float(charged)
