"""What quantiles that are drawn as marks of a ruler share, whatever the law is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any

from jali.mechanisms.mechanism import LogMasses, Mechanism
from jali.mechanisms.ruler import Ruler
from jali.noise import BitSource, system_bits


class MarkQuantile(Mechanism):
    """A quantile that is a mark of a public ruler."""

    error_is_exact = False

    @property
    @abstractmethod
    def ruler(self) -> Ruler:
        """The marks that can be released."""

    @abstractmethod
    def draws(self, value: Any, size: int, bits: BitSource) -> list[int]:
        """Draw the marks of many independent releases."""

    @abstractmethod
    def log_law(self, value: Any) -> list[float]:
        """Return ln Pr[mark] for each mark of a short ruler."""

    def release(self, value: Any, *, bits: BitSource | None = None) -> int | float:
        """Return the value of a mark near the quantile."""
        return self.sample(value, 1, bits=bits)[0]  # type: ignore[return-value]

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases."""
        ruler = self.ruler
        return [ruler.at(mark) for mark in self.draws(value, size, system_bits() if bits is None else bits)]

    def outcome(self, released: int | float) -> Hashable:
        """Return the value itself."""
        return released

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[output] for each mark of a short ruler."""
        ruler = self.ruler
        return {ruler.at(mark): mass for mark, mass in enumerate(self.log_law(value))}
