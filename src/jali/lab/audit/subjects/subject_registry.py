"""List everything that Jali has as subjects, and audit all of it in several processes at once.

Subjects are mechanisms, local randomizers, counters, questions, sessions and streams.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from jali.errors import CatalogError, Phrase
from jali.lab.audit.audits import Audit, Audits, strip_parameters
from jali.lab.audit.encoder import Encoder
from jali.lab.audit.runner import TimeShares, audit_all, audit_within, sort_slow_first, split_error
from jali.lab.audit.subject import Effort, Finding, Outputs, Progress, Subject, silent
from jali.lab.audit.subjects.question_subjects import PATHS, SESSIONS, QuestionPath, SessionSubject
from jali.lab.audit.subjects.registration import AUDITED
from jali.lab.audit.subjects.stream_subjects import FOLLOWED, STREAMS, FollowedPath, StreamPath
from jali.lab.audit.testers.one_run import running
from jali.mechanisms.base import LogMasses, Specimen
from jali.privacy import Adjacency, Loss

# An encoder is fitted to this many outputs: whatever others hold has a column of its own.
_FITTED = 4096


@dataclass(frozen=True)
class SubjectEntry:
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
        return strip_parameters(self.name)


@lru_cache(maxsize=1)
def list_entries() -> tuple[SubjectEntry, ...]:
    """Return everything that is registered.

    Mechanisms, randomizers and counters register by being public and having specimens; questions, streams and
    sessions by a line in `PATHS`, `STREAMS`, `FOLLOWED` or `SESSIONS`.
    """
    specimens = (specimen for mechanism in AUDITED for specimen in mechanism.specimens())
    asked: tuple[QuestionPath | StreamPath | FollowedPath | SessionSubject, ...] = (
        *PATHS,
        *STREAMS,
        *FOLLOWED,
        *SESSIONS,
    )
    return (
        *(
            SubjectEntry(name_specimen(one), one.mechanism.loss, one.adjacency, partial(make_subject, one))
            for one in specimens
        ),
        *(SubjectEntry(path.title, path.claim, path.adjacency, path.subject) for path in asked),
        *(
            SubjectEntry(one.name, one.claim, one.adjacency, partial(_return_subject, one))
            for one in list_databases()
        ),
    )


def _return_subject(subject: Subject) -> Subject:
    return subject


def list_subjects() -> tuple[Subject, ...]:
    """Return everything that is registered, ready to be audited."""
    return tuple(one.subject for one in list_entries())


def find_subjects(name: str) -> tuple[Subject, ...]:
    """Return the subjects of a name: all of a group, such as "Laplace" or "median", or one by its full name."""
    wanted = name.casefold()
    found = tuple(one for one in list_entries() if wanted in (one.group.casefold(), one.name.casefold()))
    if not found:
        raise _describe_unknown(name, list(dict.fromkeys(one.group for one in list_entries())))
    return tuple(one.subject for one in found)


def _describe_unknown(name: str, known: list[str]) -> CatalogError:
    """Describe what was meant, or where the list is."""
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


def list_databases() -> tuple[Subject, ...]:
    """Return the running database, to be attacked in one run."""
    return tuple(running(adjacency=adjacency) for adjacency in Adjacency)


def list_mechanisms() -> tuple[Subject, ...]:
    """Return every specimen of every mechanism, local randomizer and counter."""
    kinds = {mechanism.__name__ for mechanism in AUDITED}
    return tuple(one.subject for one in list_entries() if one.group in kinds)


def name_specimen(specimen: Specimen) -> str:
    """Return what a specimen is called among all of them."""
    word = specimen.adjacency.value
    return specimen.name if word in specimen.name else f"{specimen.name}, {word}"


def make_subject(specimen: Specimen) -> Subject:
    """Return a small case of a mechanism as a subject, with its exact law."""
    audited, coder, name = specimen.mechanism, _make_coder(specimen), name_specimen(specimen)
    return Subject(
        name,
        audited.loss,
        specimen.adjacency,
        specimen.neighbours,
        lambda value, count, _: coder.rows(audited.sample(value, count)),
        name,
        coder.encode_law(audited.log_masses),
        coder.encoder,
    )


@dataclass(frozen=True)
class OutcomeCoder:
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

    def encode_law(self, law: Callable[[Any], LogMasses]) -> Callable[[Any], LogMasses]:
        """Return the law of the rows."""
        return law if self.encoder is None else lambda value: self._encode_masses(law, value)

    def _encode_masses(self, law: Callable[[Any], LogMasses], value: Any) -> LogMasses:
        if repr(value) not in self.laws:
            masses = law(value)
            rows = map(tuple, self.rows(list(masses)).tolist())
            self.laws[repr(value)] = dict(zip(rows, masses.values(), strict=True))
        return self.laws[repr(value)]


def _make_coder(specimen: Specimen) -> OutcomeCoder:
    """Return how the outcomes of a specimen become numbers, read off its laws for the first neighbours."""
    law = specimen.mechanism.log_masses
    outcomes = list(dict.fromkeys(outcome for value in specimen.neighbours[0] for outcome in law(value)))
    widths = {_measure_width(outcome) for outcome in outcomes}
    if len(widths) == 1 and None not in widths:
        return OutcomeCoder(None)
    return OutcomeCoder(Encoder.fit(outcomes[:: 1 + len(outcomes) // _FITTED]))


def _measure_width(outcome: Hashable) -> int | None:
    """Return how many numbers an outcome is; None if it is something else."""
    parts = outcome if isinstance(outcome, tuple) else (outcome,)
    return len(parts) or None if all(isinstance(part, int | float | Fraction) for part in parts) else None


def audit_registered(
    effort: Effort | None = None,
    *,
    seconds: float | None = None,
    brief: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> Audits:
    """Audit all that Jali has; the arguments are those of `audit_all`.

    Args:
        effort: The samples of each, and the confidence of all of them together.
        seconds: About how long to take in all; as long as it takes by default.
        brief: Leave out the stages that are not needed where the law of the outputs is known.
        workers: How many processes; one for each core by default.
        progress: Called with a line about the work in progress.
    """
    effort, number = effort or Effort(), workers or count_cores()
    if number == 1:
        return audit_all(list_subjects(), effort, seconds=seconds, brief=brief, progress=progress)
    held = list_subjects()
    each, shares = split_error(effort, len(held)), TimeShares.among(held, seconds, number)
    # A forked process would share what threads hold.
    with ProcessPoolExecutor(number, get_context("spawn")) as pool:
        made: dict[int, Audit] = {}
        for place, findings, given, took in _run_pool(pool, held, each, shares, brief):
            made[place] = Audit(held[place], findings, given, took)
            progress(f"{len(made)} of {len(held)}: {held[place].name}")
    return Audits(tuple(made[place] for place in sorted(made)), effort, shares.duration)


def count_cores() -> int:
    """Return how many processes can run at once."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


_FinishedAudit = tuple[int, tuple[Finding, ...], Effort, float]


def _run_pool(
    pool: ProcessPoolExecutor, held: Sequence[Subject], each: Effort, shares: TimeShares, brief: bool
) -> Iterator[_FinishedAudit]:
    """Yield audits as they end; a new one begins with what time is left then."""
    order = iter(sort_slow_first(held))
    running: set[Future[_FinishedAudit]] = set()
    while True:
        for place in order:
            running.add(pool.submit(_audit_one, place, each, shares.next(held[place]), brief))
            if len(running) >= shares.workers:
                break
        if not running:
            return
        ended, running = wait(running, return_when=FIRST_COMPLETED)
        for one in ended:
            yield one.result()


def _audit_one(place: int, effort: Effort, seconds: float | None, brief: bool) -> _FinishedAudit:
    """Audit one subject in a process of its own; subjects are made there again, as functions do not travel."""
    made = audit_within(list_entries()[place].subject, effort, seconds, brief=brief)
    return place, made.findings, made.effort, made.seconds
