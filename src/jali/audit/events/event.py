"""What an event is: a set of outputs whose probabilities under two neighbours are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jali.audit.subject import Outputs


class Event(ABC):
    """A set of outputs. It says what it is in words, and turns into plain numbers and back.

    Attributes:
        kind: Its name in a file.
    """

    kind: ClassVar[str]

    @abstractmethod
    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it."""

    @abstractmethod
    def __str__(self) -> str:
        """Say it in words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts, from which `of_dict` makes it again."""

    @classmethod
    def of_dict(cls, made: dict[str, Any]) -> Self:
        """Make it again of what `to_dict` returned."""
        return cls(**{name: value for name, value in made.items() if name != "kind"})
