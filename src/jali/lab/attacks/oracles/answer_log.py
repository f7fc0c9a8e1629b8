"""Read counts that a real system answered, and the truth behind them: a log to be attacked again.

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

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.decoding.solvers import LOG_GRADIENT, fit
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracles.generated_secrets import Secret, SecretOracle, UnprotectedOracle
from jali.lab.attacks.subsets.random_subsets import Packed
from jali.lab.attacks.subsets.subset_operators import Subsets

_ANSWER_COLUMNS = ("multiplier", "power", "offset", "answer")
_PEOPLE_COLUMNS = ("client_id", "status")


@dataclass(frozen=True, eq=False)
class AnswerLog(UnprotectedOracle, SecretOracle):
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
    def of(cls, path: Path) -> AnswerLog:
        """Read a log, given the file of its answers."""
        ids, secret = _read_people(path)
        rows = _read_columns(path, _ANSWER_COLUMNS)
        # With an integer power the product is an integer too, and the subset everybody.
        multiplier, power, offset, answers = rows[rows[:, 1] != np.round(rows[:, 1])].T
        if len(answers) <= len(ids):
            raise CatalogError("log-undetermined", path=path, answers=len(answers), people=len(ids))
        try:
            return cls(path, secret, compute_subsets(ids, multiplier, power, offset), answers)
        except (ArithmeticError, ValueError):
            raise CatalogError("log-beyond-precision", path=path) from None

    @property
    def logs(self) -> Sequence[AnswerLog]:
        """This one, as one of a folder has it."""
        return (self,)

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"the log {self.path.name}"

    @cached_property
    def noise(self) -> Noise:
        """The noise as anybody finds it in the log: normal, with the standard deviation of the residuals."""
        return Noise("gaussian", fit(self.asked, self.answers, density=0.5, gradient=LOG_GRADIENT).stddev)

    def ask(self, subsets: Subsets) -> Doubles:
        """Repeat the answers to the questions that were asked."""
        if subsets is not self.asked:
            raise CatalogError("log-other-questions", log=self.name)
        return self.answers


def compute_subsets(ids: Doubles, multiplier: Doubles, power: Doubles, offset: Doubles) -> Packed:
    """Return which clients each question counted."""
    # The power of the C library: numpy's own is some units off in the last place on some processors, and near
    # 10^16 that moves people in and out.
    powers = np.frompyfunc(math.pow, 2, 1)(ids * multiplier[:, None], power[:, None])
    with np.errstate(over="raise"):
        place = offset[:, None] * np.asarray(powers, np.float64)
    return Packed.of(np.floor(place + 0.5) == np.floor(place))


def _read_people(path: Path) -> tuple[Doubles, Secret]:
    """Return the clients that a file of answers is about, and their bits."""
    if not _find_people_file(path).exists():
        raise CatalogError("log-without-people", path=path, people_file=_find_people_file(path).name)
    ids, bits = _read_columns(_find_people_file(path), _PEOPLE_COLUMNS).T
    if set(bits.tolist()) != {0.0, 1.0} or len(np.unique(ids)) < len(ids):
        raise CatalogError("log-people-wrong", path=_find_people_file(path))
    return ids, Secret(bits.astype(np.int8), float(bits.mean()))


def _find_people_file(path: Path) -> Path:
    """Return the file of the people that belongs to a file of answers."""
    if not path.name.startswith("answers_"):
        raise CatalogError("log-not-answers", path=path)
    return path.with_name("people_" + path.name.removeprefix("answers_"))


def _read_columns(path: Path, columns: Sequence[str]) -> Doubles:
    """Return columns of a file as numbers."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            missing = [column for column in columns if column not in (rows.fieldnames or ())]
            if missing:
                raise CatalogError("log-column-missing", path=path, column=missing[0], columns=tuple(columns))
            numbers = [[_read_number(path, rows.line_num, row[column]) for column in columns] for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CatalogError("log-unreadable", path=path, reason=_describe_problem(error)) from None
    return np.array(numbers, np.float64).reshape(-1, len(columns))


def _describe_problem(error: Exception) -> str:
    """Describe what went wrong, without numbers of the operating system."""
    return (error.strerror or "it is not a file") if isinstance(error, OSError) else str(error)


def _read_number(path: Path, line: int, text: str | None) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise CatalogError("log-number-wrong", path=path, line=line, text=text)
    return number


_HALF = 0.5


@dataclass(frozen=True, eq=False)
class AnswerLogs(UnprotectedOracle):
    """All logs of a folder, with all their people."""

    logs: Sequence[AnswerLog]

    @classmethod
    def of(cls, path: Path) -> AnswerLogs:
        """Read a log, or all logs of a folder."""
        files = sorted(path.glob("answers_*.csv")) if path.is_dir() else [path]
        if not files:
            raise CatalogError("log-folder-empty", path=path)
        return cls([AnswerLog.of(file) for file in files])

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

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        ends = np.cumsum([log.n for log in self.logs])
        return sum(log.mark(part) for log, part in zip(self.logs, np.split(guess, ends[:-1]), strict=True))
