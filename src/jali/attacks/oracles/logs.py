"""Several logs, one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jali.attacks.arrays import Bits
from jali.attacks.noises import Noise
from jali.attacks.oracle import Refusal, Spent
from jali.attacks.oracles.log import Log
from jali.errors import CatalogError
from jali.privacy import Adjacency

_HALF = 0.5


@dataclass(frozen=True, eq=False)
class Logs:
    """All logs of a folder, with all their people."""

    logs: Sequence[Log]

    @classmethod
    def of(cls, path: Path) -> Logs:
        """Read a log, or all logs of a folder."""
        files = sorted(path.glob("answers_*.csv")) if path.is_dir() else [path]
        if not files:
            raise CatalogError("log-folder-empty", path=path)
        return cls([Log.of(file) for file in files])

    @property
    def name(self) -> str:
        """What is attacked."""
        return self.logs[0].name if len(self.logs) == 1 else f"{len(self.logs)} logs"

    @property
    def n(self) -> int:
        """How many people there are."""
        return sum(log.n for log in self.logs)

    @property
    def prior(self) -> float:
        """The share of ones in the log where it tells most of a bit: Theorem 3 is about the largest odds."""
        return max((log.prior for log in self.logs), key=lambda share: abs(share - _HALF))

    @property
    def noise(self) -> Noise:
        """The noise, over all people."""
        return Noise("gaussian", math.sqrt(sum(log.n * log.noise.size**2 for log in self.logs) / self.n))

    @property
    def adjacency(self) -> Adjacency | None:
        """The system promised nothing that could be counted."""
        return None

    def spent(self) -> Spent | None:
        """Nothing was counted."""
        return None

    def refusal(self) -> Refusal | None:
        """Nothing was refused."""
        return None

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        ends = np.cumsum([log.n for log in self.logs])
        return sum(log.mark(part) for log, part in zip(self.logs, np.split(guess, ends[:-1]), strict=True))
