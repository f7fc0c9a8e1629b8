"""What quantiles by permute-and-flip share: each mark of a short ruler has a coin of its own."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from jali.mechanisms.mechanism import miss
from jali.mechanisms.quantiles.mark_quantile import MarkQuantile
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip, draw_permute_and_flip, permute_and_flip_law
from jali.mechanisms.selection.scores import Exponents
from jali.noise import BitSource
from jali.privacy.losses.pure import Pure


class FlippedQuantile(MarkQuantile):
    """A quantile among few marks: one of those whose coin shows True, of chance exp(-rate * (distance - best))."""

    most_marks = 1 << 16

    @abstractmethod
    def exponents(self, value: Any) -> Exponents:
        """Return rate * (distance - best) for each mark."""

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    def error(self, confidence: float) -> float:
        """Return a t such that the rank is within t people, or units of weight, of the best, with this chance."""
        miss(confidence)
        among = PermuteAndFlip(sensitivity=1 / (2 * self.rate), epsilon=1)
        return among.error(confidence, candidates=self.top + 1)

    def draws(self, value: Any, size: int, bits: BitSource) -> list[int]:
        """Draw the marks of many independent releases."""
        marks: list[int] = draw_permute_and_flip(self.exponents(value), size, bits).tolist()
        return marks

    def log_law(self, value: Any) -> list[float]:
        """Return ln Pr[mark] for each mark."""
        exponents = self.exponents(value)
        exact = np.array([float(exponents.exact(mark)) for mark in range(len(exponents))])
        law: list[float] = permute_and_flip_law(exact).tolist()
        return law
