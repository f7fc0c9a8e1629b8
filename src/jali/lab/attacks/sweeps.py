"""Run many attacks: at many sizes of noise, losses or numbers of questions, or all of them in a tour.

A sweep shows how much of a secret is recovered as one of these changes, beside the law and the ceiling that the
loss allows. A tour runs every attack against everything that it can be pointed at, in a minute or two.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any

from jali.errors import CatalogError
from jali.lab.attacks.attack_base import Progress, silent
from jali.lab.attacks.attack_result import Result, Sense
from jali.lab.attacks.evidence import ceiling
from jali.lab.attacks.noise_models import KINDS, Noise
from jali.lab.attacks.opponents import Reconstruction
from jali.lab.attacks.staging import OPPONENTS, Staged, attacks, find_attack, stage
from jali.privacy import Adjacency
from jali.privacy.conversions import largest_rho
from jali.privacy.rationals import Number, positive, positive_integer


@dataclass(frozen=True)
class SweepPoint:
    """The outcome at one place.

    Attributes:
        at: The place: a size of noise in sqrt(n), an epsilon, or a number of questions.
        fraction: The share of right bits.
        interval: For the probability of a right guess, at 95 %.
        predicted: The share that theory says; None where it is silent.
        sense: Whether that should be met within chance ("equal"), is close ("about"), or a bound ("at least").
        questions: How many answers there were.
        refused: Whether more were asked for.
        ceiling: The largest probability of a right guess that the loss allows; None where none is counted.
    """

    at: float
    fraction: float
    interval: tuple[float, float]
    predicted: float | None
    sense: Sense
    questions: int
    refused: bool
    ceiling: float | None = None

    @classmethod
    def of(cls, at: float, result: Result) -> SweepPoint:
        """Take from a result what a sweep shows."""
        return cls(
            at,
            result.fraction,
            result.interval,
            result.predicted,
            result.sense,
            result.questions,
            result.refusal is not None,
        )


@dataclass(frozen=True)
class SweepLine:
    """One attack against one kind of noise.

    Attributes:
        attack: Its name.
        against: The noise, or what else was attacked, in a word or two.
        points: In the order of their places.
    """

    attack: str
    against: str
    points: tuple[SweepPoint, ...]

    @property
    def name(self) -> str:
        """What is written beside the line."""
        return f"{self.attack}, {self.against}"


@dataclass(frozen=True, repr=False)
class Sweep:
    """Shares of right bits at many places, for several attacks.

    Attributes:
        by: What changes: "noise", "epsilon" or "questions".
        n: How many people one secret has.
        trials: How many secrets were attacked at each place.
        lines: One for each attack and each kind of noise.
        marks: Places of note, by name.
        ceiling: At each of some places the largest probability of a right guess that the loss allows.
        each: What one question spends, where questions change.
        baseline: The share without a release.
    """

    by: str
    n: int
    trials: int
    lines: tuple[SweepLine, ...]
    marks: Mapping[str, float] = field(default_factory=dict)
    ceiling: tuple[tuple[float, float], ...] = ()
    each: float | None = None
    baseline: float = 0.5

    def __repr__(self) -> str:
        return f"Sweep(by={self.by!r}, n={self.n}, {', '.join(line.name for line in self.lines)})"

    def __str__(self) -> str:
        from jali.lab.attacks.attack_report import write_sweep

        return write_sweep(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts."""
        return asdict(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw the sweep, and return the axes (needs matplotlib)."""
        from jali.lab.attacks.attack_plots import attack_sweep

        return attack_sweep(self, axes=axes)


_FEWEST_POINTS, _MOST_POINTS = 2, 200
# How many places a smooth line has.
_SMOOTH_POINTS = 61
_WITH_LEDGER = "with a ledger"


@dataclass(frozen=True)
class SweepCourse:
    """One line of a sweep, before it is run.

    Attributes:
        attack: Its name.
        against: What it meets, in a word or two.
        places: Where it is run.
        run: Attacks at a place, from a seed.
    """

    attack: str
    against: str
    places: Sequence[float]
    run: Callable[[float, int | None], Result]


@dataclass(frozen=True)
class Sweeper(ABC):
    """Runs attacks at many places.

    Attributes:
        names: The attacks; by default those that are quick: the lab shows them at noise of the order of sqrt(n),
            on n people or more.
        n: How many people one secret has.
        low: The first place; below all that is of interest by default.
        high: The last one.
        points: How many places, evenly spaced in their logarithms.
        trials: How many secrets are attacked at each.
        seed: Where secrets, questions and noise come from.
    """

    names: tuple[str, ...] = ()
    n: int = 1024
    low: Number | None = None
    high: Number | None = None
    points: int = 12
    trials: int = 4
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in ("n", "points", "trials"):
            positive_integer(getattr(self, name), name)

    def run(self, *, progress: Progress = silent) -> Sweep:
        """Run every attack at every place."""
        courses = [course for name in choose_attacks(self.names, n=self.n) for course in self.courses(name)]
        return self.summed(tuple(self._run_course(course, progress) for course in courses))

    @abstractmethod
    def courses(self, name: str) -> Iterator[SweepCourse]:
        """Return the lines of an attack."""

    @abstractmethod
    def summed(self, lines: tuple[SweepLine, ...]) -> Sweep:
        """Return the lines with what is drawn around them."""

    def staged(self, name: str, noise: Noise, seed: int | None) -> Staged:
        """Set an attack up."""
        return stage(name, n=self.n, noise=noise, against="simulator", trials=self.trials, seed=seed)

    def places(self, low: Number, high: Number) -> list[float]:
        """Return the places, between the given ends where none were asked for."""
        return space_evenly(
            low if self.low is None else self.low, high if self.high is None else self.high, self.points
        )

    def _run_course(self, course: SweepCourse, progress: Progress) -> SweepLine:
        made = []
        for index, at in enumerate(course.places):
            progress(f"{course.attack}, {course.against}: {index + 1} of {len(course.places)}")
            seed = None if self.seed is None else self.seed + index * self.trials
            made.append(SweepPoint.of(at, course.run(at, seed)))
        return SweepLine(course.attack, course.against, tuple(made))

    def _count_questions(self, name: str, noise: Noise) -> int:
        """Return how many questions an attack asks if nobody refuses."""
        return stage(name, n=self.n, noise=noise, against="simulator", trials=1, seed=self.seed).run().questions


@dataclass(frozen=True)
class NoiseSweep(Sweeper):
    """Attacks at many sizes of noise, in multiples of sqrt(n), to beyond both thresholds: sqrt(n) and n.

    Attributes:
        noises: The kinds of noise.

    Example:
        >>> sweep = NoiseSweep(("hadamard",), n=64, points=2, trials=1, seed=1, noises=("uniform",)).run()
        >>> [round(point.at, 4) for point in sweep.lines[0].points], sweep.marks["n"]
        ([0.0625, 16.0], 8.0)
    """

    noises: tuple[str, ...] = ("uniform", "worst")

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_noises(self.noises, tuple(kind for kind in KINDS if kind not in ("none", "garbage")))

    def courses(self, name: str) -> Iterator[SweepCourse]:
        """Return a line for each kind of noise."""
        root = math.sqrt(self.n)
        for kind in self.noises:

            def run(at: float, seed: int | None, kind: str = kind) -> Result:
                return self.staged(name, Noise(kind, at * root), seed).run()

            yield SweepCourse(name, f"{kind} noise", self.places(1 / 16, 2 * root), run)

    def summed(self, lines: tuple[SweepLine, ...]) -> Sweep:
        """Mark the two thresholds."""
        marks = {"sqrt(n)": 1.0, "n": math.sqrt(self.n)}
        return Sweep("noise", self.n, self.trials, lines, marks=marks)


@dataclass(frozen=True)
class EpsilonSweep(Sweeper):
    """Attacks with the noise that Jali adds when all questions of an attack together may spend epsilon.

    With m questions, replace-one, that is Laplace noise of scale m / epsilon on whole numbers (geometric), or
    Gaussian noise of variance m / (2 rho), with rho the largest whose loss is (epsilon, delta).

    Attributes:
        noises: "geometric", "laplace", "gaussian".
        delta: The delta of Gaussian noise.
    """

    noises: tuple[str, ...] = ("geometric", "gaussian")
    delta: Number = "1e-6"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_noises(self.noises, ("geometric", "laplace", "gaussian"))

    def courses(self, name: str) -> Iterator[SweepCourse]:
        """Return a line for each kind of noise."""
        asked = self._count_questions(name, Noise("none"))
        for kind in self.noises:

            def run(at: float, seed: int | None, kind: str = kind) -> Result:
                return self.staged(name, Noise(kind, self._find_scale(kind, at, asked)), seed).run()

            yield SweepCourse(name, f"{kind} noise", self.places("0.1", 100), run)

    def summed(self, lines: tuple[SweepLine, ...]) -> Sweep:
        """Draw the ceiling of each loss."""
        allowed = tuple((at, _find_ceiling(at)) for at in _space_between(lines))
        below = tuple(_add_ceilings(line, _find_ceiling) for line in lines)
        return Sweep("epsilon", self.n, self.trials, below, ceiling=allowed)

    def _find_scale(self, kind: str, epsilon: float, questions: int) -> float:
        if kind == "gaussian":
            return math.sqrt(questions / (2 * float(largest_rho(epsilon, self.delta))))
        return questions / epsilon


@dataclass(frozen=True)
class QuestionSweep(Sweeper):
    """Attacks with more and more questions, each of which spends the same: without a ledger, and with one.

    The noise is Laplace noise of scale 1 / each on whole numbers, for replace-one. The ledger answers as many
    questions as its budget pays for, and the ceiling is that of the loss which it has counted.

    Attributes:
        epsilon: The budget of the ledger.
        each: What one question spends.
    """

    epsilon: Number = 1
    each: Number = "1/4"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._each > self._total:
            raise CatalogError("sweep-each-too-large", epsilon=self._total, each=self._each, name="each")

    def courses(self, name: str) -> Iterator[SweepCourse]:
        """Return a line without a ledger, and one with it."""
        noise = Noise("geometric", float(1 / self._each))
        places = _round_places(self.places(1, self._count_questions(name, noise)))
        for against, most in (("without a ledger", None), (_WITH_LEDGER, self._most_questions)):

            def run(at: float, seed: int | None, most: int | None = most) -> Result:
                return self._run_rationed(self.staged(name, noise, seed), int(at), most)

            yield SweepCourse(name, against, places, run)

    def summed(self, lines: tuple[SweepLine, ...]) -> Sweep:
        """Mark where the ledger refuses, and draw the ceiling of what it has counted."""
        allowed = tuple((at, self._find_counted_ceiling(at)) for at in _space_between(lines))
        below = tuple(
            _add_ceilings(line, self._find_counted_ceiling) if line.against == _WITH_LEDGER else line
            for line in lines
        )
        marks = {"refused": float(self._most_questions)}
        each = float(self._each)
        return Sweep("questions", self.n, self.trials, below, marks=marks, ceiling=allowed, each=each)

    def _find_counted_ceiling(self, questions: float) -> float:
        """Return what the loss allows that a ledger has counted by then."""
        return _find_ceiling(min(float(self._each) * questions, float(self._total)))

    def _run_rationed(self, staged: Staged, asked: int, most: int | None) -> Result:
        """Attack oracles that answer some of the questions and no more."""
        from jali.lab.attacks.oracles.simulator import RationedOracle

        granted = asked if most is None else min(asked, most)
        oracles = (RationedOracle(oracle, granted, refuses=asked > granted) for oracle in staged.opponents())
        return staged.attack.repeat(oracles)

    @property
    def _total(self) -> Fraction:
        return positive(self.epsilon, "epsilon")

    @property
    def _each(self) -> Fraction:
        return positive(self.each, "each")

    @property
    def _most_questions(self) -> int:
        return int(self._total / self._each)


def _find_ceiling(epsilon: float) -> float:
    """Return the largest probability of a right guess after a loss."""
    return ceiling(epsilon, Adjacency.REPLACE_ONE)


def _add_ceilings(line: SweepLine, allowed: Callable[[float], float]) -> SweepLine:
    """Write beside each place what is allowed there."""
    return replace(line, points=tuple(replace(point, ceiling=allowed(point.at)) for point in line.points))


def choose_attacks(names: Iterable[str] = (), *, n: int) -> tuple[str, ...]:
    """Return the attacks of a sweep: the named ones, or those that are quick on n people."""
    able = {
        name: kind.exhibit
        for name, kind in sorted(attacks().items())
        if issubclass(kind, Reconstruction) and "simulator" in kind.against
    }
    given = tuple(names)
    for name in given:
        if find_attack(name).name not in able:
            raise CatalogError("sweep-attack-wrong", attack=name, attacks=tuple(able))
    quick = (name for name, shown in able.items() if shown.n >= n and "sqrt(n)" in shown.noise)
    chosen = given or tuple(name for name in quick if _can_take(name, n))
    if not chosen:
        raise CatalogError("sweep-too-slow", people=n, attacks=tuple(able))
    return chosen


def _can_take(name: str, n: int) -> bool:
    """Return whether an attack can be shown on n people: some need a power of two."""
    try:
        find_attack(name)().check(n)
    except CatalogError:
        return False
    return True


def space_evenly(low: Number, high: Number, points: int) -> list[float]:
    """Return places from low to high, evenly spaced in their logarithms.

    Example:
        >>> [round(place, 9) for place in space_evenly(1, 100, 3)]
        [1.0, 10.0, 100.0]
    """
    first, last = float(positive(low, "low")), float(positive(high, "high"))
    if first >= last:
        raise CatalogError("sweep-range-wrong", first=first, last=last, name="low")
    if not _FEWEST_POINTS <= points <= _MOST_POINTS:
        raise CatalogError(
            "sweep-points-out-of-range", least=_FEWEST_POINTS, most=_MOST_POINTS, points=points, name="points"
        )
    ratio = math.log(last / first) / (points - 1)
    return [first * math.exp(ratio * i) for i in range(points - 1)] + [last]


def _space_between(lines: Iterable[SweepLine]) -> list[float]:
    """Return many places from the first of some lines to their last."""
    places = [point.at for line in lines for point in line.points]
    return space_evenly(min(places), max(places), _SMOOTH_POINTS)


def _round_places(places: Iterable[float]) -> list[float]:
    return [float(at) for at in sorted({round(at) for at in places})]


def _check_noises(noises: Sequence[str], known: Sequence[str]) -> None:
    wrong = next((kind for kind in noises if kind not in known), None)
    if wrong is not None:
        raise CatalogError("sweep-noise-wrong", noise=wrong, noises=tuple(known), name="noise")


@dataclass(frozen=True)
class TourStop:
    """One attack of a tour.

    Attributes:
        against: What was attacked: "simulator", "jali" or "unledgered".
        result: The outcome.
    """

    against: str
    result: Result


@dataclass(frozen=True, repr=False)
class Tour:
    """What all attacks achieved.

    Attributes:
        stops: One for each attack and each opponent.
    """

    stops: tuple[TourStop, ...]

    def __repr__(self) -> str:
        return f"Tour({len(self.stops)} stops)"

    def __str__(self) -> str:
        from jali.lab.attacks.attack_report import write_tour

        return write_tour(self)

    @property
    def seconds(self) -> float:
        """How long all attacks took."""
        return sum(stop.result.seconds for stop in self.stops)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the bits as plain numbers and texts."""
        results = [{"opponent": stop.against} | stop.result.to_dict() for stop in self.stops]
        return {"seconds": self.seconds, "results": results}

    def plot(self, axes: Any = None) -> Any:
        """Draw what every attack got right, and return the axes (needs matplotlib)."""
        from jali.lab.attacks.attack_plots import attack_tour

        return attack_tour(self, axes=axes)


def list_left_out() -> tuple[str, ...]:
    """Return the attacks of which a tour shows nothing: those on a log."""
    return tuple(name for name, kind in sorted(attacks().items()) if not set(kind.against) & set(OPPONENTS))


def stops() -> Iterator[tuple[str, str]]:
    """Return every attack with every opponent it knows; logs of others are not part of the lab."""
    return ((name, foe) for name, kind in sorted(attacks().items()) for foe in OPPONENTS if foe in kind.against)


def run_tour(*, epsilon: Number = 1, seed: int | None = None, progress: Progress = silent) -> Tour:
    """Run every attack as the lab shows it: against a simulator, Jali, and Jali without a ledger.

    Args:
        epsilon: The budget of Jali's ledger.
        seed: Where secrets, questions and simulated noise come from.
        progress: Called with a line about the work in progress.
    """
    made = []
    for name, foe in stops():
        told = _prefix_progress(progress, f"{name} against {foe}")
        budget = None if foe == "simulator" else epsilon
        made.append(TourStop(foe, stage(name, against=foe, epsilon=budget, seed=seed).run(progress=told)))
    return Tour(tuple(made))


def _prefix_progress(progress: Progress, where: str) -> Progress:
    progress(where)
    return lambda stage: progress(f"{where}: {stage}")
