"""Streams without an end: a sequence of counters, one for each epoch, and the recipe that makes them."""

from __future__ import annotations

import inspect
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

import jali.streams
from jali.errors import MechanismError
from jali.mechanisms.base import LogMasses, read_miss_probability, read_natural
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.registry import list_mechanisms
from jali.mechanisms.workloads.linear_release import build_product_law
from jali.mechanisms.workloads.workload import Floats
from jali.sampling import BitSource
from jali.streams.counter import AHEAD, Counter, Published
from jali.streams.noise_quantiles import NoiseTerms, quantile_of_sum, stddev_of_sum, total_size
from jali.streams.participation import Participation
from jali.streams.running_stream import Running, increments_in, read_state

# Proved for adaptive streams, with few numbers kept, and near the least error that is known.
_BEST = {"epsilon": "SmoothTree", "rho": "BufferedToeplitz"}
_GIVEN = frozenset({"horizon", "epsilon", "rho", "person"})

CounterParameters: TypeAlias = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, repr=False)
class Recipe:
    """The tag of a counter, such as EveryItem, or every-item, and its parameters besides horizon and loss.

    It is kept by its tag, so that a stream that was stored can be continued. A recipe that is frozen also has
    all parameters of the counters of some horizons, those that were optimised too: they are never chosen again.

    Example:
        >>> Recipe("EveryItem")
        'EveryItem'
    """

    counter: str
    parameters: CounterParameters
    frozen: tuple[tuple[int, CounterParameters], ...] = ()

    def __init__(self, counter: str, **parameters: Any) -> None:
        object.__setattr__(self, "counter", _in_python(counter))
        object.__setattr__(self, "parameters", tuple(sorted(parameters.items())))
        object.__setattr__(self, "frozen", ())

    def __repr__(self) -> str:
        told = [repr(self.counter), *(f"{name}={value!r}" for name, value in self.parameters)]
        return f"Recipe({', '.join(told)})" if self.parameters else told[0]

    @classmethod
    def of(cls, each: Each, noise: str) -> Recipe:
        """Read a recipe from the name of a counter, or from its class; None stands for the best for a noise.

        Args:
            each: The name, the class or the recipe.
            noise: "epsilon" for Laplace noise, "rho" for Gaussian noise.
        """
        if each is None:
            each = _BEST[noise]
        if isinstance(each, type):
            each = each.tag
        read = each if isinstance(each, Recipe) else cls(each)
        read.kind()
        return read

    def froze(self, counters: Iterable[Counter]) -> Recipe:
        """Return the recipe that makes these very counters at their horizons."""
        found = Recipe(self.counter, **dict(self.parameters))
        object.__setattr__(found, "frozen", tuple((made.horizon, _parameters(made)) for made in counters))
        return found

    def kind(self) -> type[Counter]:
        """Return the class of the counters; one that has no horizon, or is no counter, is refused."""
        found = _kinds().get(self.counter)
        if found is None:
            raise MechanismError(
                "window-counter-wrong", counter=self.counter, counters=tuple(_kinds()), name="each"
            )
        return found

    def made(self, horizon: int, epsilon: Fraction | None, rho: Fraction | None, person: Participation) -> Counter:
        """Make the counter of a horizon."""
        kind, name = self.kind(), "rho" if epsilon is None else "epsilon"
        if name not in inspect.signature(kind).parameters:
            raise MechanismError("window-counter-without-noise", counter=self.counter, loss=name, name="each")
        loss = {name: rho if epsilon is None else epsilon}
        given = dict(self.parameters) | dict(dict(self.frozen).get(horizon, ()))
        return kind(horizon=horizon, person=person, **loss, **given)  # type: ignore[call-arg]


Each: TypeAlias = str | type[Counter] | Recipe | None


def _in_python(name: str) -> str:
    """Return the tag of the counter that `choose`, `named` and the command line call by a name with dashes.

    Example:
        >>> _in_python("every-item"), _in_python("EveryItem")
        ('EveryItem', 'EveryItem')
    """
    dashed = isinstance(name, str) and name == name.lower()
    return "".join(word.capitalize() for word in name.split("-")) if dashed else name


def _parameters(counter: Any) -> CounterParameters:
    """Return what a counter is made of besides horizon, loss and person."""
    names = [field.name for field in fields(counter)]
    return tuple((name, getattr(counter, name)) for name in names if name not in _GIVEN)


@cache
def _kinds() -> dict[str, type[Counter]]:
    """Return the public counters that are made for a horizon, by their tags."""
    kinds = [kind for kind in list_mechanisms(jali.streams) if issubclass(kind, Counter)]
    return {kind.tag: kind for kind in kinds if _has_horizon(kind)}


def _has_horizon(kind: type[Counter]) -> bool:
    horizon = inspect.signature(kind).parameters.get("horizon")
    return horizon is not None and horizon.default is inspect.Parameter.empty


class Unlimited(int):
    """A horizon that no stream reaches."""

    def __repr__(self) -> str:
        return "unlimited"


UNLIMITED = Unlimited(1 << 62)


class EpochMemory(ABC):
    """What a stream remembers of the values of its epochs: public numbers, one column for each key."""

    @abstractmethod
    def publish(self, values: Floats, over: bool) -> Floats:
        """Return what is published after the next ticks of an epoch, from the values of its counter.

        Args:
            values: A row for each tick.
            over: Whether the epoch is over with them.
        """

    @abstractmethod
    def to_rows(self) -> list[list[float]]:
        """Return the numbers, for the state of a stream."""


class EpochCounter(Counter):
    """A stream without an end: its ticks fall in epochs, and each epoch has a counter of its own.

    What is published is computed from the values that the counters publish. Each epoch may have noise of its own
    law: `law` is that of the first, and `influence` is in units of its standard deviation.
    """

    each: Recipe

    @abstractmethod
    def part(self, number: int) -> Counter:
        """Return the counter of an epoch, from 0."""

    @abstractmethod
    def place(self, tick: int) -> tuple[int, int]:
        """Return in which epoch a tick falls, from 0, and which tick of it that is, from 1."""

    @abstractmethod
    def kinds(self) -> tuple[Counter, ...]:
        """Return the different counters that epochs have, in the order in which they come: each once."""

    def frozen(self) -> Self:
        """Return the same stream, whose recipe has all parameters of its epochs: none is optimised again.

        So another version, or another machine, continues with the strategy that an epoch was begun with.
        """
        return replace(self, each=self.each.froze(self.kinds()))  # type: ignore[type-var]

    @abstractmethod
    def memory(self, width: int, tick: int = 0, kept: list[list[float]] | None = None) -> EpochMemory:
        """Return what a stream remembers after some ticks: nothing before the first."""

    @abstractmethod
    def terms(self, tick: int) -> NoiseTerms:
        """Return the coefficients of the noises in the value after a tick, with the laws of the noises."""

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether later increments may depend on what was published before: as the epochs' counters allow."""
        return self.part(0).adaptive

    def influence(self, tick: int) -> Floats:
        """Return the coefficients of the noises, in units of the standard deviation of `law`."""
        unit = float(self.law.stddev) or 1.0
        return np.concatenate([row * (float(law.stddev) / unit) for row, law in self.terms(self.numbered(tick))])

    def stddev(self, tick: int) -> float:
        """Return the standard deviation of the value after a tick, from 1."""
        return stddev_of_sum(self.terms(self.numbered(tick)))

    def error(self, confidence: float, *, tick: int | None = None) -> float:
        """Return what the error after one tick stays within; by default of the tick with the largest variance."""
        read_miss_probability(confidence)
        terms = self.terms(self.worst_tick if tick is None else self.numbered(tick))
        return quantile_of_sum(terms, confidence) + self.part(0).rounding * total_size(terms)

    def start(self, *, width: int = 1, ahead: int = AHEAD, bits: BitSource | None = None) -> Running:
        """Begin a stream of one or several keys."""
        width = read_natural(width, "width")
        return RunningEpochs(self, width, read_natural(ahead, "ahead"), self.memory(width), bits)

    def resume(self, state: str, *, bits: BitSource | None = None) -> Running:
        """Continue a stream from its stored state."""
        kept = read_state(state)
        memory = self.memory(kept["width"], kept["tick"], kept["public"])
        found = RunningEpochs(self, kept["width"], kept["ahead"], memory, bits)
        found.tick, found.number = kept["tick"], kept["part"]
        if kept["inside"] is not None:
            found.inside = self.part(found.number).resume(kept["inside"], bits=bits)
        return found

    def strategy(self) -> NDArray[Any]:
        """Refuse: there is no last tick. The epochs have strategies."""
        raise MechanismError("stream-without-matrix")

    def measured(self, increments: NDArray[Any]) -> Iterator[tuple[Counter, NDArray[Any]]]:
        """Return the exact measurements of a short stream that ends with an epoch, and whose noise they get."""
        number = 0
        while len(increments):
            part = self.part(number)
            yield part, part.measure(increments[: part.horizon])
            increments, number = increments[part.horizon :], number + 1

    def measure(self, increments: NDArray[Any]) -> NDArray[Any]:
        """Return the exact measurements of a short stream that ends with an epoch."""
        return np.concatenate([exact for _, exact in self.measured(increments)])

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the noisy measurements of a short stream: all noises are independent."""
        law: LogMasses = {(): 0.0}
        for part, exact in self.measured(self.read(value)):
            move = math.isqrt(int(part.distance[1])) + 1
            more = build_product_law(exact.tolist(), part.law, move).items()
            law = {one + other: p + q for one, p in law.items() for other, q in more}
        return law

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the noisy measurements of many streams at once."""
        found = []
        for part, exact in self.measured(self.read(value)):
            noise = part.sampler.sample(size * exact.size, bits=bits).reshape(size, exact.size)
            found.append(exact + noise)
        return [tuple(row) for row in np.concatenate(found, axis=1).tolist()]

    def answer(self, measurements: NDArray[Any]) -> Floats:
        """Compute the values from the noisy measurements of a short stream that ends with an epoch."""
        memory, number, found = self.memory(1), 0, []
        while len(measurements):
            rows = _rows(self.part(number))
            values = self.part(number).answer(measurements[:rows])
            found.append(memory.publish(values.reshape(-1, 1), True).ravel())
            measurements, number = measurements[rows:], number + 1
        return np.concatenate(found)

    def read(self, increments: Any) -> NDArray[Any]:
        """Return increments as an array of integers, one for each tick; other types are refused."""
        array = increments_in(increments)
        if array.ndim != 1 or not array.size:
            raise MechanismError("stream-not-integers")
        return array


@lru_cache(maxsize=64)
def _rows(part: Counter) -> int:
    """Return how many measurements an epoch makes."""
    return len(part.strategy())


class RunningEpochs(Running):
    """A running stream of epochs: the running counter of the epoch that is open, and the public memory.

    Attributes:
        number: Which epoch is open, from 0.
        inside: The running stream of that epoch; None before its first tick.
    """

    counter: EpochCounter
    inside: Running | None

    def __init__(
        self, counter: EpochCounter, width: int, ahead: int, memory: EpochMemory, bits: BitSource | None = None
    ) -> None:
        self.counter, self.width, self.ahead, self.memory, self.bits = counter, width, ahead, memory, bits
        self.tick, self.number, self.inside = 0, 0, None

    def append(self, increment: Any) -> Any:
        """Pass one tick and return what is published; quick for plain integers."""
        if type(increment) is not int or self.width > 1 or self.exhausted:
            return super().append(increment)
        inside = self._open()
        return float(self._publish(np.array([[inside.append(increment)]]), inside)[0, 0])

    def advance(self, increments: NDArray[Any]) -> Published:
        """Hand the increments to the epochs that they fall in, and publish from the values of these."""
        values: list[Floats] = []
        measured: list[NDArray[Any]] = []
        while len(increments):
            inside = self._open()
            here = increments[: inside.counter.horizon - inside.tick]
            found = inside.advance(here)
            values.append(self._publish(found.values.reshape(len(here), self.width), inside).reshape(here.shape))
            measured.append(found.measurements)
            increments = increments[len(here) :]
        if not values:
            return Published(np.zeros(increments.shape), increments)
        return Published(np.concatenate(values), narrow(np.concatenate(measured)))

    def state(self) -> str:
        """Return the state of the open epoch, and the public memory."""
        inside = None if self.inside is None else self.inside.state()
        kept = {"tick": self.tick, "width": self.width, "ahead": self.ahead, "part": self.number}
        return json.dumps({**kept, "inside": inside, "public": self.memory.to_rows()})

    def _publish(self, values: Floats, inside: Running) -> Floats:
        """Count the ticks whose values the open epoch has given, and close it if it is over."""
        self.tick += len(values)
        if inside.exhausted:
            self.number, self.inside = self.number + 1, None
        return self.memory.publish(values, self.inside is None)

    def _open(self) -> Running:
        if self.inside is None:
            part = self.counter.part(self.number)
            # what an epoch leaves of the noise drawn ahead is lost with it
            ahead = min(self.ahead, part.horizon)
            self.inside = part.start(width=self.width, ahead=ahead, bits=self.bits)
        return self.inside
