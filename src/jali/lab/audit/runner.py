"""Run the stages of an audit, one after the other, until a violation is proved or all have tried.

Each stage has its share of the effort. Many audits share a time: each gets a part of what is left, and as many
samples as fit into it at the pace of the subject.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from jali.errors import CatalogError
from jali.lab.audit.audits import Audit, Audits
from jali.lab.audit.subject import Effort, Finding, Progress, Subject, Tester, Verdict, silent
from jali.lab.audit.testers.enumeration import Enumeration
from jali.lab.audit.testers.one_run import OneRun
from jali.lab.audit.testers.output_shape import OutputShape
from jali.lab.audit.testers.pairwise import Pairwise
from jali.lab.audit.testers.properties import Properties
from jali.lab.audit.testers.reachability import Reachability
from jali.mechanisms.base import LogMasses

STAGES: tuple[Tester, ...] = (Enumeration(), Properties(), OutputShape(), Reachability(), Pairwise(), OneRun())
# Where the law of the outputs is known: that it keeps the claim, and that outputs follow it, is all to show.
LAWFUL: tuple[Tester, ...] = (Enumeration(), OutputShape())
# The weight of each in the samples and in the error that is allowed. An exact stage takes neither; what is
# conclusive where it shows at all needs little of both.
WEIGHTS = {"exact": 0, "properties": 1, "shape": 2, "reachability": 1, "pairwise": 16, "one run": 4}


def choose_stages(subject: Subject) -> tuple[Tester, ...]:
    """Return the stages that a subject needs at least: of one with a known law, those about the law."""
    return LAWFUL if all(tester.applies(subject) for tester in LAWFUL) else STAGES


# A measurement takes at least this long, in seconds, or has this many samples; and what testing a sample takes.
_LONG_ENOUGH, _MANY = 0.005, 256
_OVERHEAD = 4e-6
_FEWEST = 100


def estimate_samples(subject: Subject, seconds: float, most: int) -> int:
    """Return about how many samples of a subject can be drawn and tested in a time: at most `most`."""
    if not subject.pairs:
        return most
    # Outputs that come in batches take as long if they are fewer.
    fewest = max(_FEWEST, subject.batch)
    return max(min(fewest, most), min(most, int(seconds / (_time_sample(subject) + _OVERHEAD))))


def _time_sample(subject: Subject) -> float:
    """Return the seconds that one sample takes, over draws that grow.

    The first one alone tells little: there is something to set up. Unless many come at once: then it tells all.
    """
    value, random, began, drawn = subject.pairs[0][0], np.random.default_rng(), time.perf_counter(), 0
    if subject.batch > 1:
        subject.draw(value, 1, random)
        return (time.perf_counter() - began) / subject.batch
    for place in count():
        size, before = 4**place, time.perf_counter()
        subject.draw(value, size, random)
        drawn, now = drawn + size, time.perf_counter()
        if size >= _MANY or (place and now - before >= _LONG_ENOUGH):
            break
    return (now - began) / drawn


@dataclass
class TimeShares:
    """Shares out a time that runs, among subjects that are audited one after the other or several at once.

    Attributes:
        seconds: About how long all may take; None: as long as it takes.
        worth: The shares of all subjects that have not been given theirs.
        workers: How many are audited at once.
        began: When the time began to run.
    """

    seconds: float | None
    worth: int
    workers: int = 1
    began: float = field(default_factory=time.perf_counter)

    @classmethod
    def among(cls, subjects: Sequence[Subject], seconds: float | None, workers: int = 1) -> TimeShares:
        """Begin to share out a time."""
        return cls(seconds, sum(map(_weigh, subjects)), workers)

    @property
    def duration(self) -> float:
        """How long it took so far."""
        return time.perf_counter() - self.began

    def next(self, subject: Subject) -> float | None:
        """Return the seconds that a subject may take: its part of what is left."""
        worth, self.worth = self.worth, self.worth - _weigh(subject)
        if self.seconds is None:
            return None
        return max(0.0, self.seconds - self.duration) * self.workers * _weigh(subject) / worth


def sort_slow_first(subjects: Sequence[Subject]) -> list[int]:
    """Return the order in which subjects are audited.

    Those that cannot do with fewer samples, as they come in batches, or are attacked and not sampled, come first:
    then the others share what time is left.
    """
    return sorted(range(len(subjects)), key=lambda place: (bool(subjects[place].pairs), -subjects[place].batch))


def _weigh(subject: Subject) -> int:
    """Return the share of the time that a subject gets: more where all that is known of it comes from samples."""
    return 3 if subject.log_masses is None else 1


def audit(
    subject: Subject,
    effort: Effort | None = None,
    testers: Sequence[Tester] | None = None,
    *,
    onward: bool = False,
    progress: Progress = silent,
) -> Audit:
    """Try to prove a claim false, in every way that applies to the subject.

    Args:
        subject: What is audited, with its claim and its neighbours.
        effort: How hard to try; a million samples at 99 % confidence by default.
        testers: The stages, in order; those of `STAGES` by default.
        onward: Go on after a violation is proved.
        progress: Called with a line about the work in progress.

    Guarantee:
        If the claim is true, and outputs follow the law that the subject states, if it states one, the verdict is
        a violation with probability at most 1 - effort.confidence: each stage is given a share of that error, by
        its weight, and the shares add up to it (Bonferroni 1936). A violation of the kind "distance" says that the
        stated law is false, so that what is proved of that law does not cover the outputs; it does not say that
        more is lost than claimed. All others say that the claim is false.
    """
    if not isinstance(subject, Subject):
        raise CatalogError("audit-without-subject")
    effort = Effort() if effort is None else effort
    began = time.perf_counter()
    lasting = _cache_laws(subject)
    applying = [one for one in (STAGES if testers is None else testers) if one.applies(lasting)]
    if not applying:
        raise CatalogError("audit-without-stage", subject=subject.name)
    findings = []
    for finding in _run_stages(lasting, effort, applying, progress):
        findings.append(finding)
        if finding.verdict is Verdict.VIOLATION and not onward:
            break
    return Audit(subject, tuple(findings), effort, time.perf_counter() - began)


def _cache_laws(subject: Subject) -> Subject:
    """Return the subject with its laws computed once for each input of its pairs: several stages ask for them."""
    law = subject.log_masses
    if law is None:
        return subject
    inputs = {id(value) for pair in subject.pairs for value in pair}
    held: dict[int, LogMasses] = {}

    def recall_law(value: Any) -> LogMasses:
        if id(value) not in inputs:
            return law(value)
        if id(value) not in held:
            held[id(value)] = law(value)
        return held[id(value)]

    return replace(subject, log_masses=recall_law)


def _run_stages(
    subject: Subject, effort: Effort, testers: Sequence[Tester], progress: Progress
) -> Iterator[Finding]:
    """Run one stage after the other, each with its share of the error and of the samples that are left."""
    weights = [WEIGHTS.get(tester.name, 1) for tester in testers]
    left, total = effort.samples, sum(weights)
    for place, (tester, weight) in enumerate(zip(testers, weights, strict=True)):
        progress(f"{subject.name}: {tester.name}")
        given = effort
        if weight:
            error = (1 - effort.confidence) * Fraction(weight, total)
            samples = max(1, left * weight // sum(weights[place:]))
            given = replace(effort, samples=samples, confidence=1 - error)
        finding = tester.audit(subject, given, progress)
        left = max(0, left - finding.samples)
        yield finding


def audit_all(
    subjects: Sequence[Subject],
    effort: Effort | None = None,
    testers: Sequence[Tester] | None = None,
    *,
    seconds: float | None = None,
    brief: bool = False,
    progress: Progress = silent,
) -> Audits:
    """Audit many subjects, so that no honest one of them is accused, with the confidence of the effort.

    Args:
        subjects: What is audited.
        effort: The samples of each, and the confidence of all of them together.
        testers: The stages, in order; those of `STAGES` by default.
        seconds: About how long to take in all, by fewer samples of what is slow; as long as it takes by default.
        brief: Leave out the stages that are not needed where the law of the outputs is known.
        progress: Called with a line about the work in progress.
    """
    effort = Effort() if effort is None else effort
    each, shares = split_error(effort, len(subjects)), TimeShares.among(subjects, seconds)
    made: dict[int, Audit] = {}
    for done, place in enumerate(sort_slow_first(subjects)):
        subject, told = subjects[place], _number_progress(progress, done, len(subjects))
        made[place] = audit_within(subject, each, shares.next(subject), testers, brief=brief, progress=told)
    return Audits(tuple(made[place] for place in sorted(made)), effort, shares.duration)


def audit_within(
    subject: Subject,
    effort: Effort,
    seconds: float | None,
    testers: Sequence[Tester] | None = None,
    *,
    brief: bool = False,
    progress: Progress = silent,
) -> Audit:
    """Audit one of many subjects, with as many samples as fit into a time; see `audit_all`."""
    lasting = _cache_laws(subject)
    samples = effort.samples if seconds is None else estimate_samples(lasting, seconds, effort.samples)
    chosen = choose_stages(lasting) if brief and testers is None else testers
    return audit(lasting, replace(effort, samples=samples), chosen, progress=progress)


def split_error(effort: Effort, number: int) -> Effort:
    """Return the effort of each of this many audits that have the confidence of one together (Bonferroni 1936)."""
    return replace(effort, confidence=1 - (1 - effort.confidence) / max(1, number))


def _number_progress(progress: Progress, place: int, total: int) -> Progress:
    return lambda stage: progress(f"{place + 1} of {total}: {stage}")
