"""The declaration of a durable stream: frozen when the stream is made, stored as text, public."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from jali.errors import LedgerError
from jali.execution.streams.measure_protocol import StreamMeasure
from jali.execution.streams.stream_measures import StreamCdf, StreamCount, StreamMean, StreamSum
from jali.execution.streams.tick_clock import Clock
from jali.ir.stream_input import StreamInput
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.global_sensitivity import Root
from jali.planner import PLANS
from jali.privacy import Adjacency, Budget
from jali.serialization.schema import Schema, define_type
from jali.streams.counter import Counter
from jali.streams.epochs import EpochCounter, Recipe
from jali.streams.participation import Participation
from jali.streams.windows import Window

# How laws of noise are written in declarations, and the parameter of each. The words never change.
_LAWS: Mapping[type, tuple[str, str]] = MappingProxyType(
    {DiscreteLaplaceLaw: ("DiscreteLaplaceLaw", "scale"), DiscreteGaussianLaw: ("DiscreteGaussianLaw", "variance")}
)


@dataclass(frozen=True)
class StreamTerms:
    """What is to be spent on a stream, and how it is to be made.

    Attributes:
        budget: The stream's own budget; None where the table that it follows pays.
        epsilon: The loss, where a table pays; or
        rho: in zCDP.
        delta: With `epsilon`: lets Gaussian noise compete.
        adaptive: Whether increments may depend on what was published before.
        mechanism: The name of a counter; None to have it chosen.
    """

    budget: Budget | None = None
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    delta: Fraction | None = None
    adaptive: bool = True
    mechanism: str | None = None


@dataclass(frozen=True)
class StreamDeclaration:
    """Everything that is known of a stream before its first item. Nothing of the data is in it.

    Attributes:
        name: What it is called.
        unit: What kind of person owns its items; None if each item is a person of its own.
        horizon: For how many ticks it lives; None if nobody knows.
        adjacency: When two streams are neighbours.
        max_ticks: In how many ticks one person counts.
        separation: How many ticks apart two of them are, at least.
        max_items: How many items of one person count in one tick.
        measure: What is measured.
        clock: When ticks begin; None if the curator says when one ends.
        wanted: What was to be spent, and how.
        follows: The table that it follows, and how; None if items are appended.
        window: Over which ticks its values are; None if over all so far.
        counter: The mechanism, frozen.
        noise: What its noise is calibrated to, in words: a line for each counter that a part of it can have.
    """

    name: str
    unit: str | None
    horizon: int | None
    adjacency: Adjacency
    max_ticks: int
    separation: int
    max_items: int
    measure: StreamMeasure
    clock: Clock | None
    wanted: StreamTerms
    follows: Any = None
    window: Window | None = None
    counter: Counter | None = None
    noise: str = ""

    def freeze_counter(self, counter: Counter) -> StreamDeclaration:
        """Freeze the mechanism, with the parameters of all of its parts."""
        if isinstance(counter, EpochCounter):
            counter = counter.frozen()
        return replace(self, counter=counter, noise="\n".join(map(_describe_noise, _list_counters(counter))))

    def check(self, first: int, last: int) -> None:
        """Refuse a counter that measures some ticks with another noise than when it was stored.

        The loss was paid for that one. Parts are looked at when their ticks come: to price all of them takes long.
        """
        told = self.noise.split("\n")
        if not all(
            _describe_noise(part) in told for part in _find_measuring_counters(self.mechanism, first, last)
        ):
            raise LedgerError("stream-mechanism-other", stream=self.name)

    @property
    def person(self) -> Participation:
        """How one person may enter the stream.

        Statement:
            One person adds at most `max_items` items in a tick, each of which moves the columns by at most the
            measure's l1 and l2; so by the triangle inequality the tick moves by `max_items` times as much.
        """
        return Participation(
            adjacency=self.adjacency,
            ticks=self.max_ticks,
            separation=self.separation,
            l1=self.measure.l1 * self.max_items,
            l2=Root(self.measure.l2.squared * self.max_items**2),
            signed=self.measure.signed,
        )

    @property
    def what(self) -> str:
        """What is published, such as "count so far"."""
        return f"{self.measure.name} {self.over()}"

    def over(self, tick: int | None = None) -> str:
        """Say over which ticks values are, or the one at a tick is."""
        if self.window is None:
            return "so far"
        return str(self.window) if tick is None else self.window.at(tick)

    @property
    def mechanism(self) -> Counter:
        """The counter, once it was chosen."""
        assert self.counter is not None
        return self.counter

    def same(self, other: StreamDeclaration) -> bool:
        """Say whether another declaration says the same, whatever counter is chosen for it."""
        return replace(self, counter=None, noise="") == replace(other, counter=None, noise="")

    def text(self) -> str:
        """Return the declaration as it is stored."""
        return build_stream_schema().encode(self)


@lru_cache(maxsize=64)
def read_stream_declaration(text: str) -> StreamDeclaration:
    """Read a stored declaration: its counter with the parameters that were frozen, whatever would be chosen today.

    A counter whose first tick is measured with another noise than when it was stored is refused; later ones are
    looked at when they come.
    """
    found: StreamDeclaration = build_stream_schema().decode(text)
    found.check(1, 1)
    return found


def _describe_noise(counter: Counter) -> str:
    """Say what the noise of a counter with a horizon is calibrated to, exactly."""
    law, (l1, squared) = counter.law, counter.distance
    word, parameter = _LAWS[type(law)]
    told = f"{word}({parameter}={getattr(law, parameter)!r})"
    return f"{int(counter.horizon)} ticks: {told} for ({l1!r}, {squared!r})"


def _list_counters(counter: Counter) -> tuple[Counter, ...]:
    """Return the different counters that ticks are measured by."""
    return counter.kinds() if isinstance(counter, EpochCounter) else (counter,)


def _find_measuring_counters(counter: Counter, first: int, last: int) -> Iterable[Counter]:
    """Return the counters that some ticks are measured by."""
    if not isinstance(counter, EpochCounter):
        return (counter,)
    return map(counter.part, range(counter.place(first)[0], counter.place(last)[0] + 1))


@cache
def build_stream_schema() -> Schema:
    """Return how streams are stored: their declarations, with everything that one can have in it.

    Counters are made by their constructors, so their parts are those that anybody can give.
    """
    import jali.streams
    from jali.execution.streams.follow_table import Follows
    from jali.mechanisms.registry import list_mechanisms

    counters = [kind for kind in list_mechanisms(jali.streams) if issubclass(kind, Counter)]
    return PLANS.extend(
        (
            define_type(
                "StreamDeclaration",
                StreamDeclaration,
                "name unit horizon adjacency max_ticks separation max_items measure clock wanted follows window"
                " counter noise",
            ),
            define_type("Wanted", StreamTerms, "budget epsilon rho delta adaptive mechanism"),
            define_type("Clock", Clock, "every start"),
            define_type("Window", Window, "ticks slides"),
            define_type("Participation", Participation, "adjacency ticks separation l1 l2 signed"),
            define_type("Root", Root, "squared"),
            define_type("Recipe", Recipe, "counter parameters frozen"),
            define_type("Follows", Follows, "query followed late"),
            define_type("Followed", StreamInput, "rows owner moment every keys measure value low high ends"),
            define_type("StreamCount", StreamCount, "keys"),
            define_type("StreamSum", StreamSum, "keys range step"),
            define_type("StreamMean", StreamMean, "keys range step"),
            define_type("StreamCdf", StreamCdf, "keys range bins"),
            *(define_type(kind.tag, kind, _list_parameters(kind), make=kind) for kind in counters),
        )
    )


def _list_parameters(kind: type[Counter]) -> str:
    """Return the parameters of a counter, which are its fields."""
    return " ".join(field.name for field in fields(kind))  # type: ignore[arg-type]
