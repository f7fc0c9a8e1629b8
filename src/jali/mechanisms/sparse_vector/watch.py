"""A watch: a threshold with its noise, asked about one value at a time."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from jali.errors import MechanismError
from jali.mechanisms.lattice import Lattice
from jali.noise import BitSource, DiscreteLaplace
from jali.privacy.losses.pure import Pure

if TYPE_CHECKING:
    from jali.mechanisms.sparse_vector.comparison import Comparison


class Watch:
    """One run of a sparse-vector mechanism; made by `start`, it spends the whole loss once.

    The threshold's noise is drawn when the watch is made and serves until the cut-off. A watch cannot be copied,
    stored, reset or carried into a forked process, for each copy would give all its positive answers with the
    same noise. Threads may share it: questions are answered one after the other.

    Guarantee:
        The answers to adaptively chosen values are `loss`-DP together. That `ask` refuses after the cut-off
        depends on earlier answers alone.
    Proof:
        docs/proofs/sparse_vector.md, Theorem 2.
    """

    def __init__(
        self,
        mechanism: Comparison,
        loss: Pure,
        *,
        threshold: Any,
        bits: BitSource | None,
        answer_scale: Fraction | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.loss = loss
        self._bits = bits
        self._answer_scale = answer_scale
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._left = mechanism.positives
        self.__noisy_threshold = mechanism.place(threshold) + self._noise(mechanism.threshold_scale)

    def __repr__(self) -> str:
        return f"Watch({type(self.mechanism).__name__}, left={self._left})"

    def __reduce__(self) -> NoReturn:
        raise MechanismError("watch-copied")

    @property
    def left(self) -> int:
        """How many values may still be found above."""
        return self._left

    def ask(self, value: Any) -> Any:
        """Tell whether a value is above the threshold.

        Returns:
            True or False; or, with numeric answers, a noisy value if it is above and None if not.
        """
        place = self.mechanism.place(value)
        with self._lock:
            self._refuse_if_over()
            above = place + self._noise(self.mechanism.query_scale) >= self.__noisy_threshold
            self._left -= above
            return self._told(place, above=above)

    def _told(self, place: int, *, above: bool) -> Any:
        if self._answer_scale is None:
            return above
        if not above:
            return None
        return Lattice(self.mechanism.step).real(place + self._noise(self._answer_scale))

    def _noise(self, scale: Fraction) -> int:
        return int(DiscreteLaplace(scale).sample(1, bits=self._bits)[0])

    def _refuse_if_over(self) -> None:
        if self._process != os.getpid():
            raise MechanismError("watch-other-process")
        if self._left == 0:
            raise MechanismError("watch-positives-used-up", positives=self.mechanism.positives)
