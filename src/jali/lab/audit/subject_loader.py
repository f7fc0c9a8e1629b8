"""Make a subject of a function, given directly or by name as `jali audit module:function` takes it."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from jali.errors import CatalogError
from jali.lab.audit.data_patterns import Pattern
from jali.lab.audit.encoder import Encoder
from jali.lab.audit.flatten import FAILURES, Raised
from jali.lab.audit.function_caller import EncodedDraw, FunctionCaller
from jali.lab.audit.neighbours import build_pairs
from jali.lab.audit.subject import Pair, Subject
from jali.mechanisms import Mechanism
from jali.privacy import Adjacency, Approximate, Concentrated, Loss, Pure
from jali.privacy.rationals import Number

# Outputs of each input to which an encoder is fitted, round by round, until they have taken this many seconds.
_ROUNDS, _SECONDS = (1, 1, 2, 4, 8, 16, 32), 0.3
_LISTS = ("data", "dataset", "values", "records", "rows", "table", "people", "xs")
_GUESSES = ("scalar", "values:10 in 0..1", "values:10 in 0..1 as array", "answers:5")


def subject_from(
    target: str,
    *,
    claim: Loss | None = None,
    adjacency: str | Adjacency | None = None,
    data: str | Pattern | None = None,
    pairs: Iterable[Pair] | None = None,
    vectorised: bool | None = None,
    encoder: str | Encoder | None = None,
) -> Subject:
    """Import what a text names, and make it a subject.

    Args:
        target: "module:function" or "path/to/file.py:function"; the working directory is searched first. It may
            also name an object with a `release`, a class of such objects, a `Subject`, or a function of no
            parameters that returns one.
        claim: The loss that it claims; that of a subject or of a mechanism of Jali by default.
        adjacency: The adjacency in which the claim is meant; that of a subject by default.
        data: A pattern of what it takes; guessed by trying if neither this nor pairs are given.
        pairs: Neighbouring inputs, in place of a pattern.
        vectorised: Whether it returns many outputs at once; by its parameters if not said.
        encoder: How its outputs become numbers, from a witness; fitted to some outputs by default.
    """
    found = _load_target(target)
    if isinstance(found, Subject):
        return _restate_claim(found, target, claim, adjacency, pairs, encoder)
    return subject_of(
        found,
        loss=claim,
        adjacency=adjacency,
        data=data,
        pairs=pairs,
        name=target,
        vectorised=vectorised,
        encoder=encoder,
        source=target,
    )


def reload_subject(
    target: str, *, claim: Loss, adjacency: str, pair: Pair, encoder: str | Encoder | None
) -> Subject:
    """Make the subject of a witness again: a function with that pair, a subject with its own pairs."""
    found = _load_target(target)
    if isinstance(found, Subject):
        return _restate_claim(found, target, claim, adjacency, None, encoder)
    return subject_of(
        found, loss=claim, adjacency=adjacency, pairs=(pair,), name=target, encoder=encoder, source=target
    )


def _load_target(target: str) -> Any:
    """Import what a text names; make the subject where it is a function that makes one."""
    found = import_target(target)
    return found() if _makes_subject(found) else found


def subject_of(
    function: Callable[..., Any] | Any,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    loss: Loss | None = None,
    adjacency: str | Adjacency | None,
    data: str | Pattern | None = None,
    pairs: Iterable[Pair] | None = None,
    name: str | None = None,
    vectorised: bool | None = None,
    encoder: str | Encoder | None = None,
    source: str = "",
) -> Subject:
    """Return a function, or an object with a `release`, as the subject of an audit.

    Args:
        function: A function of the data. See `Caller.of` for what else it may take.
        epsilon: Its claim: epsilon, with a delta or without, or rho, or a loss of any kind.
        delta: See above.
        rho: See above.
        loss: See above.
        adjacency: When two inputs are neighbours: "add-remove" or "replace-one".
        data: What it takes, as a `Pattern` or its text, such as "values:10 in 0..1".
        pairs: Neighbouring inputs, in place of a pattern.
        name: What reports call it.
        vectorised: Whether it returns many outputs at once; by its parameters if not said.
        encoder: How its outputs become numbers; fitted to some of them by default.
        source: How it can be made again, for witnesses.

    Example:
        >>> def noisy(value, size, rng):
        ...     return value + rng.laplace(0, 1, size)
        >>> subject_of(noisy, epsilon=1, adjacency="add-remove", data="scalar").name
        'noisy, scalar'
    """
    claim = _find_claim(function, epsilon=epsilon, delta=delta, rho=rho, loss=loss)
    if adjacency is None:
        raise CatalogError("audited-adjacency-missing", name="adjacency")
    related = Adjacency.of(adjacency)
    caller = FunctionCaller.of(function, claim, vectorised=vectorised)
    title = name or str(getattr(function, "__qualname__", type(function).__name__))
    pattern: str | Pattern = ""
    if pairs is None:
        pattern = _guess_pattern(caller, related) if data is None else data
        title, pairs = f"{title}, {pattern}", build_pairs(pattern, related)
    tried = _check_pairs(pairs)
    made = _fit_encoder(caller, tried, title) if encoder is None else encoder
    known = Encoder.read(made) if isinstance(made, str) else made
    draw = EncodedDraw(caller, known)
    return Subject(title, claim, related, tried, draw, source, encoder=known, data=str(pattern))


def build_claim(
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    loss: Loss | None = None,
) -> Loss:
    """Return the one loss that is stated: epsilon, epsilon and delta, rho, or a loss itself.

    Example:
        >>> build_claim(epsilon="0.7", delta="1e-6")
        Approximate(0.7, 1e-06)
    """
    if sum(one is not None for one in (epsilon, rho, loss)) != 1 or (delta is not None and epsilon is None):
        raise CatalogError("claim-malformed")
    if loss is not None:
        return loss
    if rho is not None:
        return Concentrated(rho)
    assert epsilon is not None
    return Pure(epsilon) if delta is None else Approximate(epsilon, delta)


def import_target(target: str) -> Any:
    """Import what a text names."""
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise CatalogError("audited-target-malformed", target=target)
    found: Any = _import_module(place)
    for part in name.split("."):
        if not hasattr(found, part):
            raise _describe_missing(place, name, found)
        found = getattr(found, part)
    return found


def _import_module(place: str) -> ModuleType:
    path = Path(place)
    is_file = path.suffix == ".py"
    if is_file and not path.is_file():
        raise CatalogError("audited-file-missing", path=place)
    with _search_directory_first(path.resolve().parent if is_file else Path.cwd()):
        try:
            return _import_file(path.resolve()) if is_file else importlib.import_module(place)
        except FAILURES as error:
            said = f"{type(error).__name__}: {error}"
            raise CatalogError("audited-import-failed", module=place, reason=said) from error


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles look a module up by its name; one that is there already stays.
    known = sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if known is module:
            del sys.modules[path.stem]
        raise
    return module


@contextmanager
def _search_directory_first(directory: Path) -> Iterator[None]:
    """Search a directory first, for the time of an import."""
    sys.path.insert(0, str(directory))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(directory))


def _describe_missing(place: str, name: str, searched: Any) -> CatalogError:
    """Describe which functions and classes there are, of those that were written there."""
    own = [one for one, held in vars(searched).items() if callable(held) and not one.startswith("_")]
    home = getattr(searched, "__name__", None)
    known = [one for one in own if getattr(getattr(searched, one), "__module__", home) == home]
    near = difflib.get_close_matches(name, known, 1) or known[:1]
    return CatalogError("audited-function-missing", place=place, function=name, near=next(iter(near), None))


def _makes_subject(found: Any) -> bool:
    """Return whether something is a function of no parameters, annotated to return a subject."""
    if not inspect.isfunction(found) or inspect.signature(found).parameters:
        return False
    said = inspect.signature(found).return_annotation
    return said is Subject or str(said).rpartition(".")[2] == "Subject"


def _restate_claim(
    subject: Subject,
    target: str,
    claim: Loss | None,
    adjacency: str | Adjacency | None,
    pairs: Iterable[Pair] | None,
    encoder: str | Encoder | None,
) -> Subject:
    return replace(
        subject if encoder is None else _set_encoder(encoder, subject),
        claim=subject.claim if claim is None else claim,
        adjacency=subject.adjacency if adjacency is None else Adjacency.of(adjacency),
        pairs=subject.pairs if pairs is None else _check_pairs(pairs),
        source=target,
    )


def _set_encoder(encoder: str | Encoder, subject: Subject) -> Subject:
    """Return a subject whose outputs become numbers by an encoder; as it is, if they are numbers by themselves."""
    known = Encoder.read(encoder) if isinstance(encoder, str) else encoder
    if not isinstance(subject.draw, EncodedDraw):
        return subject
    return replace(subject, draw=replace(subject.draw, encoder=known), encoder=known)


def _find_claim(function: Any, **stated: Any) -> Loss:
    """Return the stated claim, or that of a mechanism of Jali."""
    if isinstance(function, Mechanism) and all(one is None for one in stated.values()):
        return function.loss
    return build_claim(**stated)


def _check_pairs(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    made = tuple(pairs)
    if not made or any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in made):
        raise CatalogError("audited-pairs-malformed")
    return tuple((one, other) for one, other in made)


def _guess_pattern(caller: FunctionCaller, adjacency: Adjacency) -> str:
    """Return the first pattern on which a function raises nothing, by the name and type of what it takes first."""
    first, problem = None, None
    for pattern in sorted(_GUESSES, key=lambda one: _is_unlikely(caller, one)):
        raised = [_find_error(caller, value) for pair in build_pairs(pattern, adjacency) for value in pair]
        if not any(raised):
            return pattern
        if first is None:
            first, problem = pattern, next(filter(None, raised))
    raise CatalogError("audited-pattern-unknown", pattern=first, problem=problem)


def _is_unlikely(caller: FunctionCaller, pattern: str) -> bool:
    """Return whether a pattern is not what the first parameter looks like."""
    try:
        first = next(iter(inspect.signature(caller.function).parameters.values()))
    except (ValueError, TypeError, StopIteration):
        return False
    said = str(getattr(first.annotation, "__name__", first.annotation)).lower()
    if first.annotation is first.empty:
        listed = first.name in _LISTS
    else:
        listed = any(word in said for word in ("list", "sequence", "array", "iterable"))
    return listed == (pattern == "scalar") or ("array" in said) != ("array" in pattern)


def _find_error(caller: FunctionCaller, value: Any) -> str:
    """Run a function once, and return what it raised; nothing if it did not."""
    try:
        caller.once(value)
    except FAILURES as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _fit_encoder(caller: FunctionCaller, pairs: tuple[Pair, ...], name: str) -> Encoder:
    """Return an encoder for the outputs under all inputs of all pairs."""
    pilot: list[Any] = []
    began = time.perf_counter()
    for count in _ROUNDS:
        for value in (one for pair in pairs for one in pair):
            pilot.extend(caller.outputs(value, count, None))
        if time.perf_counter() - began > _SECONDS:
            break
    if all(isinstance(output, Raised) for output in pilot):
        raise _always_raises(caller, pairs[0][0], name)
    return Encoder.fit(pilot)


def _always_raises(caller: FunctionCaller, value: Any, name: str) -> CatalogError:
    said = _find_error(caller, value) or "an error"
    return CatalogError("audited-always-raises", function=name, reason=said)
