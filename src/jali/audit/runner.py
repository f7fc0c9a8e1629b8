"""The runner: the stages of an audit, one after the other, until a violation is proved or all have tried."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from jali.audit.effort import Effort
from jali.audit.finding import Finding, Verdict
from jali.audit.outcome import Audit, Audits
from jali.audit.pace import fitting
from jali.audit.shares import Shares, slow_first
from jali.audit.stages import STAGES, WEIGHTS, briefly
from jali.audit.subject import Subject
from jali.audit.testers.tester import Progress, Tester, silent
from jali.errors import CatalogError
from jali.mechanisms.mechanism import LogMasses


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
        progress: Is told what is at work.

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
    lasting = _remembering(subject)
    applying = [one for one in (STAGES if testers is None else testers) if one.applies(lasting)]
    if not applying:
        raise CatalogError("audit-without-stage", subject=subject.name)
    findings = []
    for finding in _findings(lasting, effort, applying, progress):
        findings.append(finding)
        if finding.verdict is Verdict.VIOLATION and not onward:
            break
    return Audit(subject, tuple(findings), effort, time.perf_counter() - began)


def _remembering(subject: Subject) -> Subject:
    """Return the subject with its laws computed once for each input of its pairs: several stages ask for them."""
    law = subject.log_masses
    if law is None:
        return subject
    inputs = {id(value) for pair in subject.pairs for value in pair}
    held: dict[int, LogMasses] = {}

    def remembered(value: Any) -> LogMasses:
        if id(value) not in inputs:
            return law(value)
        if id(value) not in held:
            held[id(value)] = law(value)
        return held[id(value)]

    return replace(subject, log_masses=remembered)


def _findings(
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
        progress: Is told what is at work.
    """
    effort = Effort() if effort is None else effort
    each, shares = jointly(effort, len(subjects)), Shares.among(subjects, seconds)
    made: dict[int, Audit] = {}
    for done, place in enumerate(slow_first(subjects)):
        subject, told = subjects[place], _counted(progress, done, len(subjects))
        made[place] = audit_within(subject, each, shares.next(subject), testers, brief=brief, progress=told)
    return Audits(tuple(made[place] for place in sorted(made)), effort, shares.taken)


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
    lasting = _remembering(subject)
    samples = effort.samples if seconds is None else fitting(lasting, seconds, effort.samples)
    chosen = briefly(lasting) if brief and testers is None else testers
    return audit(lasting, replace(effort, samples=samples), chosen, progress=progress)


def jointly(effort: Effort, number: int) -> Effort:
    """Return the effort of each of so many audits that have the confidence of one together (Bonferroni 1936)."""
    return replace(effort, confidence=1 - (1 - effort.confidence) / max(1, number))


def _counted(progress: Progress, place: int, total: int) -> Progress:
    return lambda stage: progress(f"{place + 1} of {total}: {stage}")
