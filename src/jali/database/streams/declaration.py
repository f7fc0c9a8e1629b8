"""The declaration of a durable stream: frozen when the stream is made, stored as text, public."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from jali.database.streams.clock import Clock
from jali.database.streams.measure import Measure
from jali.database.streams.measures import MEASURES
from jali.errors import LedgerError
from jali.mechanisms.sensitivity import Root
from jali.planner import PLAN_CLASSES
from jali.privacy import Adjacency, Budget
from jali.query.codec import Form, Forms, decode, encode
from jali.streams.counter import Counter
from jali.streams.participation import Participation


@dataclass(frozen=True)
class Wanted:
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
        separation: How many ticks lie between two of them, at least.
        max_items: How many items of one person count in one tick.
        measure: What is measured.
        clock: When ticks begin; None if the curator says when one ends.
        wanted: What was to be spent, and how.
        follows: The table that it follows, and how; None if items are appended.
        counter: The mechanism, frozen.
        noise: What its noise is calibrated to, in words.
    """

    name: str
    unit: str | None
    horizon: int | None
    adjacency: Adjacency
    max_ticks: int
    separation: int
    max_items: int
    measure: Measure
    clock: Clock | None
    wanted: Wanted
    follows: Any = None
    counter: Counter | None = None
    noise: str = ""

    def made_with(self, counter: Counter) -> StreamDeclaration:
        """Freeze the mechanism."""
        return replace(self, counter=counter, noise=_noise(counter))

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
    def mechanism(self) -> Counter:
        """The counter, once it was chosen."""
        assert self.counter is not None
        return self.counter

    def same(self, other: StreamDeclaration) -> bool:
        """Say whether another declaration says the same, whatever counter is chosen for it."""
        return replace(self, counter=None, noise="") == replace(other, counter=None, noise="")

    def text(self) -> str:
        """Return the declaration as it is stored."""
        return encode(self, _forms())


@lru_cache(maxsize=64)
def read_declaration(text: str) -> StreamDeclaration:
    """Read a stored declaration: its counter with the parameters that were frozen, whatever would be chosen today.

    A counter that measures with another noise than when it was stored is refused: the loss was paid for that one.
    """
    found: StreamDeclaration = decode(text, _classes(), _forms())
    if _noise(found.mechanism) != found.noise:
        raise LedgerError(
            f"The stream {found.name} was made with another version of its mechanism.",
            remedy="Open it with the version of Jali that made it.",
        )
    return found


def _noise(counter: Counter) -> str:
    """Say what the noise of a counter is calibrated to, exactly."""
    return f"{counter.law!r} for {counter.distance!r}"


def _counters() -> tuple[type[Any], ...]:
    import jali.streams
    from jali.mechanisms.registry import registered

    return registered(jali.streams)


def _classes() -> Iterable[type]:
    """Return every class that a declaration can have in it."""
    from jali.database.streams.following import Follows
    from jali.query.followed import Followed
    from jali.streams.recipe import Recipe

    own = (StreamDeclaration, Wanted, Clock, Participation, Root, Recipe, Follows, Followed, *MEASURES.values())
    return (*PLAN_CLASSES, *own, *_counters())


def _forms() -> Forms:
    """Make counters by their constructors, whose parameters are their fields."""
    return {kind: Form(_parameters, kind) for kind in _counters()}


def _parameters(counter: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(counter, field.name)) for field in fields(counter)}


def _plain(value: Any) -> Any:
    """Write whole numbers that call themselves otherwise, such as an unlimited horizon, as numbers."""
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value
