"""Many questions at once, as a linear operator: no matrix is needed to ask a million of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from jali.attacks.arrays import Doubles, Members


class Subsets(ABC):
    """A matrix of zeros and ones with a row for each question and a column for each person.

    scipy's `aslinearoperator` takes it as it is.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""

    @abstractmethod
    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""

    @abstractmethod
    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""

    @abstractmethod
    def row(self, index: int) -> Members:
        """Return who is in one subset."""

    @abstractmethod
    def first(self, count: int) -> Subsets:
        """Return the first questions, which are all that an oracle with a budget may have answered."""

    def __len__(self) -> int:
        return self.shape[0]

    def rows(self) -> Iterator[Members]:
        """Return the subsets one after the other."""
        return (self.row(index) for index in range(len(self)))
