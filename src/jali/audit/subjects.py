"""Everything that Jali has, as subjects: mechanisms, local randomizers, counters, questions, sessions, streams."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from jali.audit.encoding import Encoder
from jali.audit.jali_subjects.path import Path
from jali.audit.jali_subjects.paths import PATHS
from jali.audit.jali_subjects.streams import FOLLOWED, STREAMS, FollowedPath, StreamPath
from jali.audit.outcome import group_of
from jali.audit.registry import AUDITED
from jali.audit.sessions import SESSIONS, Whole
from jali.audit.subject import Outputs, Subject
from jali.audit.testers.one_run import running
from jali.errors import CatalogError, Phrase
from jali.mechanisms import Specimen
from jali.mechanisms.mechanism import LogMasses
from jali.privacy import Adjacency, Loss

# An encoder is fitted to so many outputs: whatever others hold has a column of its own.
_FITTED = 4096


@dataclass(frozen=True)
class Entry:
    """A line of the registry: what a subject is called and claims, before it is made.

    Attributes:
        name: What a report calls it.
        claim: What it claims.
        adjacency: The adjacency in which the claim is meant.
        make: Makes it: its laws are computed then, which takes a while for all of them.
    """

    name: str
    claim: Loss
    adjacency: Adjacency
    make: Callable[[], Subject]

    @cached_property
    def subject(self) -> Subject:
        """The subject, made once."""
        return self.make()

    @property
    def group(self) -> str:
        """What it is one case of: its name up to the first comma."""
        return group_of(self.name)


@lru_cache(maxsize=1)
def entries() -> tuple[Entry, ...]:
    """Return everything that is registered.

    Mechanisms, randomizers and counters register by being public and having specimens; questions, streams and
    sessions by a line in `PATHS`, `STREAMS`, `FOLLOWED` or `SESSIONS`.
    """
    specimens = (specimen for mechanism in AUDITED for specimen in mechanism.specimens())
    asked: tuple[Path | StreamPath | FollowedPath | Whole, ...] = (*PATHS, *STREAMS, *FOLLOWED, *SESSIONS)
    return (
        *(Entry(named(one), one.mechanism.loss, one.adjacency, partial(of_specimen, one)) for one in specimens),
        *(Entry(path.title, path.claim, path.adjacency, path.subject) for path in asked),
        *(Entry(one.name, one.claim, one.adjacency, partial(_itself, one)) for one in databases()),
    )


def _itself(subject: Subject) -> Subject:
    return subject


def subjects() -> tuple[Subject, ...]:
    """Return everything that is registered, ready to be audited."""
    return tuple(one.subject for one in entries())


def subjects_named(name: str) -> tuple[Subject, ...]:
    """Return the subjects of a name: all of a group, such as "Laplace" or "median", or one by its full name."""
    wanted = name.casefold()
    found = tuple(one for one in entries() if wanted in (one.group.casefold(), one.name.casefold()))
    if not found:
        raise _unknown(name, list(dict.fromkeys(one.group for one in entries())))
    return tuple(one.subject for one in found)


def _unknown(name: str, known: list[str]) -> CatalogError:
    """Say what was meant, or where the list is."""
    by_letters = {one.casefold(): one for one in known}
    near = [by_letters[one] for one in get_close_matches(name.casefold(), by_letters, 3)]
    return CatalogError("audit-unregistered", subject=name, advice=_advise(name, tuple(near)))


def _advise(name: str, near: tuple[str, ...]) -> Phrase:
    module, _, function = name.removesuffix(".py").rpartition(".")
    if near:
        return Phrase("audit-did-you-mean", near=near)
    if module or name.endswith(".py"):
        return Phrase("audit-function-place", module=module or function, function=function)
    return Phrase("audit-list")


def databases() -> tuple[Subject, ...]:
    """Return the running database, to be attacked in one run."""
    return tuple(running(adjacency=adjacency) for adjacency in Adjacency)


def mechanisms() -> tuple[Subject, ...]:
    """Return every specimen of every mechanism, local randomizer and counter."""
    kinds = {mechanism.__name__ for mechanism in AUDITED}
    return tuple(one.subject for one in entries() if one.group in kinds)


def named(specimen: Specimen) -> str:
    """Return what a specimen is called among all of them."""
    word = specimen.adjacency.value
    return specimen.name if word in specimen.name else f"{specimen.name}, {word}"


def of_specimen(specimen: Specimen) -> Subject:
    """Return a small case of a mechanism as a subject, with its exact law."""
    audited, coder, name = specimen.mechanism, _coder(specimen), named(specimen)
    return Subject(
        name,
        audited.loss,
        specimen.adjacency,
        specimen.neighbours,
        lambda value, count, _: coder.rows(audited.sample(value, count)),
        name,
        coder.coded(audited.log_masses),
        coder.encoder,
    )


@dataclass(frozen=True)
class Coder:
    """Turns the outcomes of a mechanism into numbers: as they are, or by an encoder where they are none.

    Attributes:
        encoder: The encoder; None for numbers, and tuples of them of one length.
        laws: The laws that were recoded, by input: it takes longer than to compute them.
    """

    encoder: Encoder | None
    laws: dict[str, LogMasses] = field(default_factory=dict)

    def rows(self, outcomes: Sequence[Hashable]) -> Outputs:
        """Return a row for each outcome."""
        if self.encoder is not None:
            return self.encoder.encode(outcomes)
        return np.array(outcomes, np.float64).reshape(len(outcomes), -1)

    def coded(self, law: Callable[[Any], LogMasses]) -> Callable[[Any], LogMasses]:
        """Return the law of the rows."""
        return law if self.encoder is None else lambda value: self._recoded(law, value)

    def _recoded(self, law: Callable[[Any], LogMasses], value: Any) -> LogMasses:
        if repr(value) not in self.laws:
            masses = law(value)
            rows = map(tuple, self.rows(list(masses)).tolist())
            self.laws[repr(value)] = dict(zip(rows, masses.values(), strict=True))
        return self.laws[repr(value)]


def _coder(specimen: Specimen) -> Coder:
    """Return how the outcomes of a specimen become numbers, read off its laws for the first neighbours."""
    law = specimen.mechanism.log_masses
    outcomes = list(dict.fromkeys(outcome for value in specimen.neighbours[0] for outcome in law(value)))
    widths = {_width(outcome) for outcome in outcomes}
    if len(widths) == 1 and None not in widths:
        return Coder(None)
    return Coder(Encoder.fit(outcomes[:: 1 + len(outcomes) // _FITTED]))


def _width(outcome: Hashable) -> int | None:
    """Return how many numbers an outcome is; None if it is something else."""
    parts = outcome if isinstance(outcome, tuple) else (outcome,)
    return len(parts) or None if all(isinstance(part, int | float | Fraction) for part in parts) else None
