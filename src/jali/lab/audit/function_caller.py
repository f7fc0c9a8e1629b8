"""Call a function under audit: once for each output or once for all, with a generator or without.

A vectorised call shows only that some run failed. Bisection attributes the failure to a single run.

Statement:
    Let a call for n outputs be n independent runs, and fail if any of them does. Given that it failed, its runs
    have the law of n independent ones of which at least one fails. So two calls for half of them each, repeated
    until either fails, have the law of its halves; and so on, down to single runs. Rows made that way have the law
    of n independent runs, whatever the chance of a failure is: nothing that was drawn is thrown away or replaced
    because of what it was.
Proof:
    With the probability that no run fails the call is kept, and has the law of n runs given that; otherwise the
    rows have the law of n runs given the opposite. The mixture is the law of n runs. Rejection draws from a law
    given an event by drawing until it occurs (von Neumann 1951); a half that did not fail is n/2 runs given that.

A failure that no repetition shows again is so rare that it was one run's alone: that run is the first of the rows,
as the order of rows plays no part in counts. Two failures at once are neglected there, which a call for n outputs
holds with a probability of less than a hundredth of that of one.
"""

from __future__ import annotations

import copy
import inspect
import random as python_random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.audit.encoder import Encoder
from jali.lab.audit.flatten import FAILURES, Raised
from jali.lab.audit.subject import Outputs
from jali.mechanisms import Mechanism
from jali.privacy import Loss

Rows = TypeVar("Rows", bound=Sequence[Any] | NDArray[Any])

# A failure that occurs in fewer than about one of this many calls is one run's.
_REPEATS = 64


@dataclass(frozen=True)
class BatchResult(Generic[Rows]):
    """What a call for several outputs gave.

    Attributes:
        rows: The outputs, as many as were asked for; the failure itself for each of them if it failed.
        failed: Whether a run failed, and it is not known which.
    """

    rows: Rows
    failed: bool = False


def isolate_failures(call: Callable[[int], BatchResult[Rows]], count: int) -> list[Rows]:
    """Return outputs of this many independent runs, in pieces, of which failed ones are single runs.

    Args:
        call: Makes this many runs.
        count: How many there are to be.
    """
    made = call(count)
    return _split_failure(call, made, count) if made.failed and count > 1 else [made.rows]


def _split_failure(call: Callable[[int], BatchResult[Rows]], failed: BatchResult[Rows], count: int) -> list[Rows]:
    """Return outputs of this many runs, given that one of them failed at least."""
    sizes = (count // 2, count - count // 2)
    for _ in range(_REPEATS):
        halves = [(call(size), size) for size in sizes]
        if any(half.failed for half, _ in halves):
            break
    else:
        one, other = (half.rows for half, _ in halves)
        return cast(list[Rows], [failed.rows[:1], one[: sizes[0] - 1], other])
    pieces: list[Rows] = []
    for half, size in halves:
        pieces += _split_failure(call, half, size) if half.failed and size > 1 else [half.rows]
    return pieces


# This many outputs are held as Python values at a time.
_BATCH = 1 << 15
_SIZES = ("size", "count")
_GENERATORS = ("rng", "random", "generator")
_CLAIMS = ("epsilon", "eps", "delta", "rho")
_PLAIN = (int, float, complex, str, bytes, bool, type(None))


@dataclass(frozen=True)
class FunctionCaller:
    """A function, and what it is given besides the data.

    Attributes:
        function: It.
        size: The name of the parameter for how many outputs are wanted; None: it returns one.
        generator: The name of the parameter for a source of randomness; None: it has its own.
        python: Whether that source is one of Python's, in place of numpy's.
        fixed: Other parameters: the claim, for functions that take it.
    """

    function: Callable[..., Any]
    size: str | None = None
    generator: str | None = None
    python: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, target: Any, claim: Loss | None, *, vectorised: bool | None = None) -> FunctionCaller:
        """Return how a function is called, by the names of its parameters, or an object with a `release`.

        A parameter `size`, `count` or `n` is for functions that return many outputs at once, `rng`, `random` or
        `generator`, or one annotated as numpy's or Python's generator, for the seeded source, and `epsilon`,
        `delta` and `rho` for the claim.
        """
        function = _find_function(target, claim)
        parameters = _read_parameters(function)
        if parameters is None:
            return cls(function, "size" if vectorised else None)
        if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
            raise CatalogError("audited-takes-no-data", function=_name_function(function))
        others = parameters[1:]
        size = None if vectorised is False else _find_size_parameter(others, told=bool(vectorised))
        generator = next((one for one in others if _is_generator(one)), None)
        fixed = _match_claim(others, claim)
        _refuse_unknown(function, others, {size, generator.name if generator else None, *fixed})
        python = generator is not None and _names_type(generator, "random.Random")
        return cls(function, size, generator.name if generator else None, python, fixed)

    def outputs(self, value: Any, count: int, random: np.random.Generator | None) -> Sequence[Any] | NDArray[Any]:
        """Return independent outputs for an input; a run that raises is an output too.

        Guarantee:
            Where many outputs come from one call, an error is that of one run and not of all of them: see
            `isolate_failures`.
        """
        given = dict(self.fixed)
        if self.generator is not None:
            given[self.generator] = self._source(random)
        if self.size is None:
            return _call_repeatedly(self.function, value, count, given)
        pieces = isolate_failures(lambda size: self._call_at_once(value, size, given), count)
        return pieces[0] if len(pieces) == 1 else [output for piece in pieces for output in piece]

    def once(self, value: Any) -> Any:
        """Run it once, and let it raise."""
        given = {**self.fixed, **({self.size: 1} if self.size else {})}
        if self.generator is not None:
            given[self.generator] = self._source(None)
        return self.function(_make_copier(value)(), **given)

    def _source(self, random: np.random.Generator | None) -> Any:
        source = np.random.default_rng() if random is None else random
        return python_random.Random(int(source.integers(1 << 62))) if self.python else source

    def _call_at_once(
        self, value: Any, count: int, given: dict[str, Any]
    ) -> BatchResult[Sequence[Any] | NDArray[Any]]:
        """Ask for many outputs at once. One error is that of a single run, whose it is not known."""
        assert self.size is not None
        try:
            made = self.function(_make_copier(value)(), **given, **{self.size: count})
        except FAILURES as error:
            return BatchResult([Raised.of(error)] * count, failed=True)
        if not _holds(made, count):
            raise CatalogError("audited-outputs-wrong", function=_name_function(self.function), count=count)
        return BatchResult(made)


def _holds(made: Any, count: int) -> bool:
    if isinstance(made, np.ndarray):
        return bool(made.shape[:1] == (count,))
    return isinstance(made, list | tuple) and len(made) == count


@dataclass(frozen=True)
class EncodedDraw:
    """Runs a function and encodes what it returns: the `draw` of a subject.

    Attributes:
        caller: How it is called.
        encoder: How its outputs become numbers.
    """

    caller: FunctionCaller
    encoder: Encoder

    def __call__(self, value: Any, count: int, random: np.random.Generator | None) -> Outputs:
        """Return a row for each of this many runs."""
        made = np.empty((count, self.encoder.width))
        for start in range(0, count, _BATCH):
            rows = made[start : start + _BATCH]
            rows[:] = self.encoder.encode(self.caller.outputs(value, len(rows), random))
        return made


def _call_repeatedly(function: Callable[..., Any], value: Any, count: int, given: dict[str, Any]) -> list[Any]:
    fresh, made = _make_copier(value), []
    for _ in range(count):
        try:
            made.append(function(fresh(), **given))
        except FAILURES as error:
            made.append(Raised.of(error))
    return made


def _make_copier(value: Any) -> Callable[[], Any]:
    """Return what gives each run an input of its own: a function may sort or empty the list that it is given."""
    if isinstance(value, _PLAIN) or (isinstance(value, tuple) and all(isinstance(one, _PLAIN) for one in value)):
        return lambda: value
    if isinstance(value, np.ndarray) or (
        isinstance(value, list) and all(isinstance(one, _PLAIN) for one in value)
    ):
        return value.copy
    return lambda: copy.deepcopy(value)


def _find_function(target: Any, claim: Loss | None) -> Callable[..., Any]:
    """Return what is called: the function, or the release of an object, or of an object of a class."""
    if inspect.isclass(target) and hasattr(target, "release"):
        target = target(**_match_claim(_read_parameters(target) or [], claim))
    if isinstance(target, Mechanism):
        return target.sample
    if not inspect.isclass(target) and callable(getattr(target, "release", None)):
        return target.release  # type: ignore[no-any-return]
    if not callable(target):
        raise CatalogError("audited-not-callable", target=target)
    return target  # type: ignore[no-any-return]


def _read_parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return the parameters, or None where Python does not know them."""
    try:
        known = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None
    return [one for one in known if one.kind is not one.VAR_KEYWORD]


def _find_size_parameter(parameters: list[inspect.Parameter], *, told: bool) -> str | None:
    """Return the name of the parameter for how many outputs are wanted."""
    named = {one.name: one for one in parameters}
    found = next((name for name in _SIZES if name in named), None)
    if found is None and "n" in named and named["n"].default in (inspect.Parameter.empty, None):
        found = "n"
    if found is None and told:
        raise CatalogError("audited-vectorised-without-size")
    return found


def _is_generator(parameter: inspect.Parameter) -> bool:
    return parameter.name in _GENERATORS or _names_type(parameter, "numpy.random", "np.random", "random.Random")


def _names_type(parameter: inspect.Parameter, *texts: str) -> bool:
    """Return whether an annotation, an object or a text, names a type."""
    said = parameter.annotation
    if inspect.isclass(said):
        said = f"{said.__module__}.{said.__qualname__}"
    if "numpy" in str(said) or "np." in str(said):
        texts = tuple(text for text in texts if not text.startswith("random."))
    return any(text in str(said) for text in texts)


def _match_claim(parameters: list[inspect.Parameter], claim: Loss | None) -> dict[str, float]:
    """Return the claim by the names that the function has for it."""
    if claim is None:
        return {}
    return {one.name: known[one.name] for one in parameters if one.name in (known := _list_claim_numbers(claim))}


def _list_claim_numbers(claim: Loss) -> dict[str, float]:
    from jali.privacy import Approximate, Concentrated, Pure

    if isinstance(claim, Concentrated):
        return {"rho": float(claim.bound)}
    if isinstance(claim, Approximate):
        return {"epsilon": float(claim.bound), "eps": float(claim.bound), "delta": float(claim.failure)}
    if isinstance(claim, Pure):
        return {"epsilon": float(claim.bound), "eps": float(claim.bound)}
    return {}


def _refuse_unknown(function: Callable[..., Any], others: list[inspect.Parameter], given: set[str | None]) -> None:
    for one in _list_required(others):
        if one.name in _CLAIMS and one.name not in given:
            raise CatalogError(
                "audited-parameter-unclaimed", function=_name_function(function), parameter=one.name
            )
        if one.name not in given:
            raise CatalogError("audited-parameter-unknown", function=_name_function(function), parameter=one.name)


def _list_required(parameters: list[inspect.Parameter]) -> Iterator[inspect.Parameter]:
    for one in parameters:
        if one.default is one.empty and one.kind is not one.VAR_POSITIONAL:
            yield one


def _name_function(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
