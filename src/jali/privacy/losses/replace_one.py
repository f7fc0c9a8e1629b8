"""Convert a loss under add-remove to one under replace-one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jali.errors import CatalogError
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss, require_loss
from jali.privacy.profiles import Profile

if TYPE_CHECKING:
    from jali.privacy.pld.loss_distribution import LossDistribution


@dataclass(frozen=True)
class Replaced(Loss):
    """The loss of replacing a person, from the loss of removing or adding one; made by `replace_one`.

    Guarantee:
        Replacing is a chain of two neighbours, so it loses what a group of two does: (epsilon, delta) becomes
        (2 epsilon, (1 + e^epsilon) delta), and rho becomes 4 rho.
    """

    _cheap: ClassVar[bool] = False

    pair: Loss

    @property
    def adjacency(self) -> Adjacency:
        """Replace-one."""
        return Adjacency.REPLACE_ONE

    @property
    def event(self) -> Event:
        """The event of a group of two."""
        return self.pair.event

    def _delta(self, epsilon: float) -> float:
        return self.pair._delta(epsilon)

    def _epsilon(self, delta: float) -> float:
        return self.pair._epsilon(delta)

    def profile(self, epsilons: Sequence[float] | None = None) -> Profile:
        """Return the profile of a group of two."""
        return self.pair.profile(epsilons)

    def _renyi(self, order: float) -> float:
        """Return the divergence of a group of two."""
        return self.pair._renyi(order)

    def group(self, size: int) -> Replaced:
        """Return the loss of replacing a group."""
        return Replaced(self.pair.group(size))

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the laws of a group of two."""
        return self.pair.spreads()

    def attained(self) -> tuple[LossDistribution, ...]:
        """Return the laws that a group of two attains."""
        return self.pair.attained()


def replace_one(loss: Loss) -> Replaced:
    """Turn a loss for add-remove neighbours into one for replace-one neighbours.

    Example:
        >>> from jali.privacy import Pure
        >>> replace_one(Pure(0.5)).epsilon(0)
        1.0
    """
    if require_loss(loss).adjacency is Adjacency.REPLACE_ONE:
        raise CatalogError("loss-replace-one-already", name="adjacency")
    return Replaced(loss.group(2))
