"""The counters that compete for a stream: their names, their variants and their forecast errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from inspect import Parameter, signature
from typing import Any, Literal, TypeAlias

from jali.errors import MechanismError, Phrase
from jali.mechanisms.registry import list_mechanisms
from jali.streams.counter import Counter
from jali.streams.epochs import UNLIMITED
from jali.streams.participation import Participation
from jali.streams.windows import Window

By: TypeAlias = Literal["largest", "rms"]

CONFIDENCE = 0.95
NOISES = {"epsilon": "Laplace", "rho": "Gaussian"}
# Beyond this many ticks the error of every tick is no longer computed: closed forms compete.
_LISTED = 1 << 22
# From here on four buffers are more than 1 % above the best.
_LONG = 1 << 16
_SHORT = 1 << 10
_GROWTH = 16
_GIVEN = frozenset({"horizon", "epsilon", "rho", "person"})


@dataclass(frozen=True)
class CounterCandidate:
    """A counter under the name by which it is asked for, and the parameters it takes besides the given ones."""

    name: str
    kind: type[Counter]
    parameters: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Alternative:
    """One counter that was considered, and what is forecast for it.

    Attributes:
        name: How it is called, such as "binary-tree".
        noise: "Laplace", which spends epsilon, or "Gaussian", which spends rho.
        made: The mechanism; None if there is none for this noise, or none that can be forecast.
        obstacle: Why it may not be taken; None if it may.
    """

    name: str
    noise: str
    made: Counter | None
    obstacle: Phrase | None = None

    @property
    def said(self) -> str:
        """Why it may not be taken, in words; empty if it may."""
        return "" if self.obstacle is None else self.obstacle.text

    @property
    def counter(self) -> Counter | None:
        """The mechanism; None if it may not be taken."""
        return None if self.obstacle else self.made

    @property
    def rms(self) -> float | None:
        """The root of its mean squared error over all ticks."""
        return None if self.made is None else self.made.rms

    @property
    def largest(self) -> float | None:
        """Its largest standard deviation over all ticks."""
        return None if self.made is None else self.made.largest

    @cached_property
    def error(self) -> float | None:
        """What the error after the worst tick stays within, with a confidence of 95 %; None for long horizons."""
        if self.made is None or _LISTED < self.made.horizon < UNLIMITED:
            return None
        return self.made.error(CONFIDENCE)

    @property
    def numbers_kept(self) -> int | None:
        """About how many numbers a running stream of one key keeps."""
        return None if self.made is None else self.made.numbers_kept()

    def score(self, by: By) -> float:
        """Return the figure that is to be small."""
        figure = self.largest if by == "largest" else self.rms
        return float("inf") if figure is None else figure


@lru_cache(maxsize=1)
def counters() -> dict[str, type[Counter]]:
    """Return the counters of running sums by their names.

    These are all counters of `jali.streams` that can be made of a horizon, a loss and a person alone.

    Example:
        >>> counters()["binary-tree"].tag
        'BinaryTree'
    """
    import jali.streams

    kinds = [kind for kind in list_mechanisms(jali.streams) if issubclass(kind, Counter)]
    return {_hyphenate(kind.tag): kind for kind in kinds if _find_required(kind) <= _GIVEN}


def name_of(counter: Counter) -> str:
    """Return how a counter is called; one that is built from others has their name behind its own."""
    each = getattr(counter, "each", None)
    own = _hyphenate(counter.tag)
    return own if each is None else f"{own}-{_hyphenate(each.counter)}"


def candidates(horizon: int | None, window: Window | None = None) -> Iterator[CounterCandidate]:
    """Return what competes over a horizon; without one, counters that need one take turns. Windows have no end."""
    if window is not None:
        yield from _in_windows(window)
        return
    for name, kind in counters().items():
        if horizon is None and _endless(kind):
            yield from _in_turns(name, kind)
        elif horizon is not None and not _endless(kind):
            yield from _list_sizes(name, kind, horizon)


def candidates_of_name(
    name: str, horizon: int | None, window: Window | None = None
) -> tuple[CounterCandidate, ...]:
    """Return what goes by a name, with a horizon or without one; windows also go by that of the counter inside."""
    if window is not None:
        return _inside(name, window)
    endless = [one for own, kind in counters().items() if _endless(kind) for one in _in_turns(own, kind)]
    every = [*candidates(1 if horizon is None else horizon), *endless]
    found = tuple(one for one in every if name in (one.name, _hyphenate(one.kind.tag)))
    if not found:
        raise MechanismError("counter-unknown", counter=name, counters=tuple(counters()))
    if horizon is None and not _endless(found[0].kind):
        raise MechanismError("counter-needs-horizon", counter=name)
    return found


@lru_cache(maxsize=256)
def forecast(
    candidate: CounterCandidate, horizon: int | None, loss: str, value: Fraction, person: Participation
) -> Alternative:
    """Make a counter and forecast its errors, unless it cannot be made for this."""
    noise, obstacle = NOISES[loss], _obstacle(candidate, horizon, loss)
    if obstacle:
        return Alternative(candidate.name, noise, None, obstacle)
    given: dict[str, Any] = {"person": person, loss: value, **dict(candidate.parameters)}
    try:
        made = candidate.kind(**given if horizon is None else given | {"horizon": horizon})
        # Without a horizon the counters of later epochs are made when they are asked about.
        made.largest  # noqa: B018 - makes them
    except MechanismError as refused:
        return Alternative(candidate.name, noise, None, refused.whole)
    return Alternative(candidate.name, noise, made)


def has_noise(candidate: CounterCandidate, loss: str) -> bool:
    """Return whether a counter can spend a loss: "epsilon" by Laplace noise, "rho" by Gaussian noise."""
    each = dict(candidate.parameters).get("each")
    return loss in signature(candidate.kind if each is None else counters()[_hyphenate(each)]).parameters


def _obstacle(candidate: CounterCandidate, horizon: int | None, loss: str) -> Phrase | None:
    """Describe why a counter cannot be forecast; None if it can."""
    if not has_noise(candidate, loss):
        return Phrase("counter-without-noise", loss=loss, noise=NOISES[loss])
    ticks = dict(candidate.parameters).get("window", horizon)
    if ticks is not None and ticks > _LISTED and not _in_closed_form(candidate.kind):
        return Phrase("counter-not-forecast", most=_LISTED)
    return None


def _in_turns(name: str, kind: type[Counter]) -> Iterator[CounterCandidate]:
    """Return an endless counter with each that it can be built from; epochs grow fast: fewer have less noise."""
    for own, each in counters().items():
        if not _endless(each) and not _keeps_all(each):
            yield CounterCandidate(f"{name}-{own}", kind, (("each", each.tag), ("growth", _GROWTH)))


def _in_windows(window: Window) -> Iterator[CounterCandidate]:
    """Return a window with each counter that it can be built from: also those that keep all of it."""
    own = _hyphenate(window.kind.tag)
    for name, each in counters().items():
        if not _endless(each):
            yield CounterCandidate(f"{own}-{name}", window.kind, (("each", each.tag), ("window", window.ticks)))


def _inside(name: str, window: Window) -> tuple[CounterCandidate, ...]:
    """Return the windows that go by a name: their own, or that of the counter inside."""
    every = tuple(_in_windows(window))
    own = _hyphenate(window.kind.tag)
    found = tuple(one for one in every if name in (own, one.name, one.name.removeprefix(f"{own}-")))
    if not found:
        names = ", ".join(one.name.removeprefix(f"{own}-") for one in every)
        raise MechanismError("window-counter-unknown", counter=name, counters=names)
    return found


def _list_sizes(name: str, kind: type[Counter], horizon: int) -> Iterator[CounterCandidate]:
    """Return a counter in the sizes that are worth it."""
    if "buffers" in signature(kind).parameters:
        for buffers in (4, 5, 6) if horizon > _LONG else (4,):
            yield CounterCandidate(name, kind, (("buffers", buffers),))
    else:
        yield CounterCandidate(name, kind)


def _endless(kind: type[Counter]) -> bool:
    return "horizon" not in _find_required(kind)


def _keeps_all(kind: type[Counter]) -> bool:
    """Return whether a counter keeps all of the past: no memory is enough for a stream without an end."""
    losses = set(signature(kind).parameters) & set(NOISES)
    person: Any = Participation(adjacency="add-remove")
    made = kind(horizon=_SHORT, person=person, **{min(losses): 1})  # type: ignore[call-arg]
    return made.numbers_kept() >= _SHORT


def _in_closed_form(kind: type[Counter]) -> bool:
    return kind.rms is not Counter.rms and kind.largest is not Counter.largest


def _find_required(kind: type[Counter]) -> set[str]:
    """Return the names of parameters without which a counter cannot be made."""
    needed = {p.name for p in signature(kind).parameters.values() if p.default is Parameter.empty}
    # One of the two losses is needed by all, and by some it is the only one.
    return needed - set(NOISES)


def _hyphenate(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
