"""Compare the shape of the outputs with the law that the subject states.

Statement:
    Let F be the exact distribution function of a reading of the output and F_n that of n independent outputs. Then
    sup |F_n - F| <= r with probability at least 1 - a, for r = sqrt(ln(2/a) / 2n), whatever F is, discrete or not
    (Dvoretzky, Kiefer and Wolfowitz 1956, with the constant of Massart 1990). The distance between two
    distribution functions is at most the total variation distance of the laws. So sup |F_n - F| - r is a lower
    bound on the latter, for each of several readings with their share of a.

The readings are each number of the output, and the place of the whole output among all outputs in the order of
their probability. A law of the wrong scale moves mass between likely and unlikely outputs: the last one sees it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.lab.audit.subject import (
    Effort,
    Finding,
    Outputs,
    Pair,
    Progress,
    Subject,
    Tester,
    Verdict,
    Witness,
    silent,
)
from jali.lab.audit.testers.enumeration import require_law
from jali.mechanisms.base import LogMasses

Doubles: TypeAlias = NDArray[np.float64]

# More outputs than this tell no more about a shape.
_ENOUGH = 200_000
_NUMBERS = (int, float, Fraction, np.number)
# Masses are sums of doubles, and windows of infinite laws leave 1e-12 out.
_DUST = 1e-9


class OutputShape(Tester):
    """Compares outputs with the exact law that the subject states, on all inputs of its pairs.

    Half of the outputs and of the error are for the first pair, which is likely to reveal most; the others share
    the rest equally.

    The finding is of the kind "distance": a lower bound on the total variation distance between the law that is
    drawn from and the law that is stated, of which 0 is claimed. A violation says that the subject does not follow
    its stated law; whether it loses more than it claims is for other testers to say.
    """

    name: ClassVar[str] = "shape"
    kind: ClassVar[str] = "distance"

    def applies(self, subject: Subject) -> bool:
        """Return whether the law of the subject is known, over outputs that are numbers."""
        if subject.log_masses is None or not subject.pairs:
            return False
        rows = list(map(_to_row, subject.log_masses(subject.pairs[0][0])))
        kinds = {type(part) for row in rows for part in row}
        return len(set(map(len, rows))) == 1 and all(issubclass(kind, _NUMBERS) for kind in kinds)

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        """Draw from the inputs, and compare."""
        law = require_law(subject)
        random = np.random.default_rng(effort.seed)
        looks = list(_list_looks(subject, max(2, min(effort.samples, _ENOUGH)), float(1 - effort.confidence)))
        total = sum(look.count for look in looks)
        progress(f"comparing {total} outputs with their law")
        found = [
            compare_law(subject.draw(look.pair[0], look.count, random), law(look.pair[0]), look.error)
            for look in looks
        ]
        worst = max(found, key=lambda one: one.least)
        return Finding(
            subject.name,
            subject.adjacency,
            self.kind,
            0.0,
            worst.least,
            Witness(looks[found.index(worst)].pair, worst.at),
            Verdict.VIOLATION if worst.least > _DUST else Verdict.NOTHING_FOUND,
            self.name,
            float(effort.confidence),
            total,
            tried=f"{total} outputs of {len(looks)} inputs against their stated law",
        )


@dataclass(frozen=True)
class _Look:
    """An input whose outputs are compared with their law.

    Attributes:
        pair: The input, and its neighbour.
        count: How many outputs are drawn.
        error: Its share of the error.
    """

    pair: Pair
    count: int
    error: float


def _list_looks(subject: Subject, samples: int, error: float) -> Iterator[_Look]:
    """Yield what is compared, each input once."""
    known: dict[str, Pair] = {}
    for one, other in subject.pairs:
        known.setdefault(repr(one), (one, other))
        known.setdefault(repr(other), (other, one))
    first, others = list(known.values())[:2], list(known.values())[2:]
    share = 0.5 if others and samples >= 2 * len(known) else 1.0
    for held, part in ((first, share), (others, 1 - share)):
        for pair in held if part else ():
            yield _Look(pair, max(1, int(samples * part) // len(held)), error * part / len(held))


@dataclass(frozen=True)
class Departure:
    """How far outputs are from a law.

    Attributes:
        least: A lower bound on the distance of the laws in total variation; 0 where nothing is proved.
        seen: The largest distance between the two distribution functions.
        at: The reading in which it was seen, and where.
    """

    least: float
    seen: float
    at: str


def compare_law(outputs: Outputs, law: LogMasses, error: float) -> Departure:
    """Return how far outputs are from a law; the bound is too large with at most the probability `error`."""
    readings = list(_list_readings(outputs, law))
    radius = _compute_radius(len(outputs), error, len(readings))
    seen, at = max(_measure_distance(*reading) for reading in readings)
    return Departure(max(0.0, seen - radius), seen, at)


def _compute_radius(count: int, error: float, readings: int) -> float:
    return math.sqrt(math.log(2 * readings / error) / (2 * count))


LawReading: TypeAlias = tuple[str, Doubles, Doubles, Doubles]


def _list_readings(outputs: Outputs, law: LogMasses) -> Iterator[LawReading]:
    """Yield a name, what was drawn, what the law can give, and the masses of that."""
    known = _to_rows(list(law))
    masses = np.exp(np.fromiter(law.values(), np.float64, len(law)))
    drawn = _fit_width(outputs, known.shape[1])
    for column in range(known.shape[1]):
        yield f"number {column + 1}", drawn[:, column], known[:, column], masses
    places = _rank_outputs(law)
    # An output that the law does not have comes after all others.
    found = np.array([places.get(tuple(row), math.inf) for row in drawn.tolist()], np.float64)
    yield "the order of probability", found, np.array([places[tuple(row)] for row in known.tolist()]), masses


def _fit_width(outputs: Outputs, width: int) -> Outputs:
    """Return outputs in the width of a law; further numbers must be 0, as the encoder's last one usually is."""
    fitted = np.full((len(outputs), width), np.nan)
    shared = min(width, outputs.shape[1])
    fitted[:, :shared] = outputs[:, :shared]
    fitted[np.any(outputs[:, width:] != 0, axis=1)] = np.nan
    return fitted


def _rank_outputs(law: LogMasses) -> dict[Hashable, float]:
    """Return the place of each output, the likeliest first."""
    ordered = sorted(law.items(), key=lambda item: -item[1])
    return {tuple(map(float, _to_row(output))): float(place) for place, (output, _) in enumerate(ordered)}


def _measure_distance(name: str, drawn: Doubles, known: Doubles, masses: Doubles) -> tuple[float, str]:
    """Return the largest distance of two distribution functions, and where it is."""
    points = np.unique(known)
    stated = _sum_masses(known, masses, points)
    seen = _sum_masses(drawn, np.full(len(drawn), 1 / len(drawn)), points)
    apart = np.abs(seen - stated)
    worst = int(np.argmax(apart))
    return float(apart[worst]), f"{name} up to {points[worst]:g}"


def _sum_masses(values: Doubles, masses: Doubles, points: Doubles) -> Doubles:
    """Return the mass of values up to each point; numbers that are none come after all points."""
    order = np.argsort(values, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(masses[order])])
    return np.asarray(sums[np.searchsorted(values[order], points, side="right")])


def _to_row(output: Any) -> tuple[Any, ...]:
    return output if isinstance(output, tuple) else (output,)


def _to_rows(outputs: list[Any]) -> Outputs:
    return np.array([[float(part) for part in _to_row(output)] for output in outputs], np.float64)
