"""What losses with a largest privacy loss share: their event, and a delta of 0 from there on."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.pure import Pure


class Bounded(Loss):
    """The loss of a mechanism that is epsilon-DP, and known better than that."""

    @property
    @abstractmethod
    def _largest(self) -> Fraction:
        """The pure epsilon, exactly."""

    @property
    def event(self) -> Event:
        """The pure loss."""
        return Pure(self._largest).event
