"""Counts that a real system answered, and the truth behind them: a log to be attacked again.

A log is two files of the form of Cohen and Nissim's "Linear Program Reconstruction in Practice" (2020):
`people_X.csv` with client_id and status, the secret bit, and `answers_X.csv` with multiplier m, power p, offset o
and answer. The answer is about the clients with status 1 among those with floor(o (id m)^p + 1/2) =
floor(o (id m)^p), in double precision.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.decoding.fit import fit
from jali.attacks.noises import Noise
from jali.attacks.oracle import Refusal, Spent
from jali.attacks.oracles.secret import Secret
from jali.attacks.subsets.packed import Packed
from jali.attacks.subsets.subsets import Subsets
from jali.errors import CatalogError
from jali.privacy import Adjacency

_ANSWERS = ("multiplier", "power", "offset", "answer")
_PEOPLE = ("client_id", "status")
_GRADIENT = 1e-4


@dataclass(frozen=True, eq=False)
class Log:
    """What one system answered about one group of people, and no more.

    Attributes:
        path: The file of the answers.
        secret: The bits, for marking. The share of ones among them counts as known before.
        asked: The questions.
        answers: What was answered.
    """

    path: Path
    secret: Secret
    asked: Packed
    answers: Doubles

    @classmethod
    def of(cls, path: Path) -> Log:
        """Read a log, given the file of its answers."""
        ids, secret = _people(path)
        rows = _read(path, _ANSWERS)
        # With an integer power the product is an integer too, and the subset everybody.
        multiplier, power, offset, answers = rows[rows[:, 1] != np.round(rows[:, 1])].T
        if len(answers) <= len(ids):
            raise CatalogError("log-undetermined", path=path, answers=len(answers), people=len(ids))
        try:
            return cls(path, secret, subsets_of(ids, multiplier, power, offset), answers)
        except (ArithmeticError, ValueError):
            raise CatalogError("log-beyond-precision", path=path) from None

    @property
    def logs(self) -> Sequence[Log]:
        """This one, as one of a folder has it."""
        return (self,)

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"the log {self.path.name}"

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.secret.bits)

    @property
    def prior(self) -> float:
        """The share of ones among the people, for the baseline."""
        return self.secret.prior

    @cached_property
    def noise(self) -> Noise:
        """The noise as anybody finds it in the log: normal, with the standard deviation of the residuals."""
        return Noise("gaussian", fit(self.asked, self.answers, density=0.5, gradient=_GRADIENT).stddev)

    @property
    def adjacency(self) -> Adjacency | None:
        """The system promised nothing that could be counted."""
        return None

    def ask(self, subsets: Subsets) -> Doubles:
        """Repeat the answers to the questions that were asked."""
        if subsets is not self.asked:
            raise CatalogError("log-other-questions", log=self.name)
        return self.answers

    def spent(self) -> Spent | None:
        """Nothing was counted."""
        return None

    def refusal(self) -> Refusal | None:
        """Nothing was refused."""
        return None

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        return self.secret.mark(guess)


def subsets_of(ids: Doubles, multiplier: Doubles, power: Doubles, offset: Doubles) -> Packed:
    """Return which clients each question counted."""
    # The power of the C library: numpy's own is some units off in the last place on some processors, and near
    # 10^16 that moves people in and out.
    powers = np.frompyfunc(math.pow, 2, 1)(ids * multiplier[:, None], power[:, None])
    with np.errstate(over="raise"):
        place = offset[:, None] * np.asarray(powers, np.float64)
    return Packed.of(np.floor(place + 0.5) == np.floor(place))


def _people(path: Path) -> tuple[Doubles, Secret]:
    """Return the clients that a file of answers is about, and their bits."""
    if not _beside(path).exists():
        raise CatalogError("log-without-people", path=path, people_file=_beside(path).name)
    ids, bits = _read(_beside(path), _PEOPLE).T
    if set(bits.tolist()) != {0.0, 1.0} or len(np.unique(ids)) < len(ids):
        raise CatalogError("log-people-wrong", path=_beside(path))
    return ids, Secret(bits.astype(np.int8), float(bits.mean()))


def _beside(path: Path) -> Path:
    """Return the file of the people that belongs to a file of answers."""
    if not path.name.startswith("answers_"):
        raise CatalogError("log-not-answers", path=path)
    return path.with_name("people_" + path.name.removeprefix("answers_"))


def _read(path: Path, columns: Sequence[str]) -> Doubles:
    """Return columns of a file as numbers."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            missing = [column for column in columns if column not in (rows.fieldnames or ())]
            if missing:
                raise CatalogError("log-column-missing", path=path, column=missing[0], columns=tuple(columns))
            numbers = [[_number(path, rows.line_num, row[column]) for column in columns] for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CatalogError("log-unreadable", path=path, reason=_reason(error)) from None
    return np.array(numbers, np.float64).reshape(-1, len(columns))


def _reason(error: Exception) -> str:
    """Say what went wrong, without numbers of the operating system."""
    return (error.strerror or "it is not a file") if isinstance(error, OSError) else str(error)


def _number(path: Path, line: int, text: str | None) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise CatalogError("log-number-wrong", path=path, line=line, text=text)
    return number
