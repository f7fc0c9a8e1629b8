"""Audits as people read them: what was tried, the bound and its confidence. No more than that is ever said."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from jali.audit.finding import Finding, Verdict
from jali.audit.outcome import LOSSES, group_of
from jali.audit.plain import shown
from jali.display.ink import PLAIN, Ink
from jali.display.text import WIDTH, TextColumn, clean, facts, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jali.audit.outcome import Audit, Audits
    from jali.audit.subject import Subject
    from jali.audit.witness_file import Replay


def report(audit: Audit, *, width: int = WIDTH, ink: Ink = PLAIN) -> str:
    """Write an audit as a title and its facts."""
    return f"{ink.strong(clean(audit.name))}\n\n{facts(told(audit), width=width, ink=ink)}"


def told(audit: Audit) -> list[tuple[str, str]]:
    """Return the facts of an audit, each with its label."""
    return [
        ("claim", f"{audit.subject.claim.event} ({audit.subject.adjacency.value})"),
        ("verdict", sentence(audit)),
        *([] if audit.needed is None else [("more", _more(audit.needed))]),
        *_witness(audit.best),
        *(("" if place else "tried", _tried(finding)) for place, finding in enumerate(audit.findings)),
        ("samples", f"{audit.samples:,} in {seconds(audit.seconds)}"),
    ]


def sentence(audit: Audit) -> str:
    """Say what was found, and with which confidence.

    Example:
        >>> at_confidence(0.99), at_confidence(1.0)
        ('at 99 % confidence', 'exactly')
    """
    best = audit.best
    sure = at_confidence(1.0 if best.confidence == 1 else audit.confidence)
    if best.kind not in LOSSES:
        return f"{_off(best)}, {sure}"
    if best.verdict is Verdict.VIOLATION:
        return f"violation: claims {best.kind} {best.claimed:g}, loses at least {below(best)}, {sure}"
    return f"no violation found up to {best.kind} {below(best)} of {best.claimed:g} claimed, {sure}"


def _off(finding: Finding) -> str:
    """Say what was found that is no loss, such as the distance between outputs and their stated law."""
    if finding.verdict is Verdict.VIOLATION:
        return f"violation: {finding.kind} {below(finding)} where {finding.claimed:g} is stated"
    return f"no violation found: {finding.kind} of {finding.claimed:g} stated"


def at_confidence(confidence: float) -> str:
    """Say how sure a bound is."""
    return "exactly" if confidence == 1 else f"at {100 * confidence:.10g} % confidence"


def below(finding: Finding) -> str:
    """Write a found loss: cut off after three digits and never rounded up, unless it is exact."""
    found = finding.found
    if finding.confidence == 1 or found <= 0 or not math.isfinite(found):
        return f"{found:g}" if math.isfinite(found) else "everything"
    digits = 2 - math.floor(math.log10(found))
    return f"{math.floor(found * 10.0**digits) / 10.0**digits:g}"


def seconds(taken: float) -> str:
    """Write how long something took."""
    return f"{taken:.2g} s" if taken < 10 else f"{taken:.0f} s"


def _more(needed: int) -> str:
    about = float(f"{needed:.1e}")
    return f"about {about:,.0f} samples would prove a violation, if the rates were those that were counted"


def _tried(finding: Finding) -> str:
    return f"{finding.tester}: {finding.tried}" if finding.tried else finding.tester


def _witness(finding: Finding) -> list[tuple[str, str]]:
    """Tell the inputs and the event, with its rates."""
    witness = finding.witness
    one, other = (shown(value) for value in witness.inputs)
    facts_ = [("inputs", f"{one}  against  {other}")]
    if witness.event is not None:
        facts_.append(("event", clean(str(witness.event))))
    elif witness.at is not None:
        facts_.append(("at", shown(witness.at)))
    if all(witness.runs):
        facts_.append(("rates", rates(witness.hits, witness.runs)))
    return facts_


def rates(hits: tuple[int, int], runs: tuple[int, int]) -> str:
    """Write how often an event occurred under both inputs."""
    shown = [f"{hit / run:.4g} ({hit:,} of {run:,})" for hit, run in zip(hits, runs, strict=True)]
    return " against ".join(shown)


def reports(audits: Audits, *, ink: Ink = PLAIN) -> str:
    """Write audits as one table: for each group the claim that came nearest to being refuted."""
    rows = [(name, held[0], len(held)) for name, held in audits.groups.items()]
    columns = [
        TextColumn("audited", tuple(clean(name) for name, _, _ in rows)),
        TextColumn("claims", tuple(f"{count}" for _, _, count in rows), right=True),
        TextColumn("claimed", tuple(f"{one.best.kind} {one.best.claimed:g}" for _, one, _ in rows)),
        TextColumn("found", tuple(_found(one) for _, one, _ in rows), right=True),
        TextColumn("share", tuple(_share(one) for _, one, _ in rows), right=True),
        TextColumn("by", tuple(one.best.tester for _, one, _ in rows)),
        TextColumn("verdict", tuple(one.verdict.value for _, one, _ in rows)),
    ]
    return f"{table(columns, ink=ink)}\n\n{_summary(audits)}"


def _found(audit: Audit) -> str:
    """Write what was found, as an interval of the event's loss where it is not exact."""
    low, high = below(audit.best), audit.interval[1]
    if audit.best.confidence == 1:
        return low
    return f"≥ {low}" if math.isinf(high) else f"{low} … {_above(high)}"


def _above(value: float) -> str:
    """Write the upper end of an interval, never rounded down."""
    digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{math.ceil(value * 10.0**digits) / 10.0**digits:g}"


def _share(audit: Audit) -> str:
    # Cut off: what is not more than claimed is never shown as more.
    return "" if not math.isfinite(audit.share) else f"{math.floor(100 * audit.share + 1e-6)} %"


def _summary(audits: Audits) -> str:
    count, found = len(audits.audits), len(audits.violations)
    said = "no violation found" if not found else f"{found} violation{'' if found == 1 else 's'}"
    sure = at_confidence(float(audits.effort.confidence))
    return (
        f"{count} claims: {said}, {sure} for all together; {audits.samples:,} samples in {seconds(audits.seconds)}"
    )


def replayed(replay: Replay, *, width: int = WIDTH, ink: Ink = PLAIN) -> str:
    """Write what a witness says when it is tried again."""
    finding = replay.finding
    again = "yes" if replay.reproduces else "no"
    told_ = [
        ("claim", f"{finding.kind} {finding.claimed:g} ({finding.adjacency})"),
        ("then", f"{replay.before.kind} {below(replay.before)}, {at_confidence(replay.before.confidence)}"),
        ("now", f"{finding.kind} {below(finding)}, {at_confidence(finding.confidence)}"),
        *_witness(finding),
        ("reproduces", again),
    ]
    return f"{ink.strong(clean(finding.name))}\n\n{facts(told_, width=width, ink=ink)}"


def listed(subjects: Sequence[Subject], *, ink: Ink = PLAIN) -> str:
    """Write what can be audited by name, with the number of its claims and the claims themselves."""
    groups: dict[str, list[str]] = {}
    for subject in subjects:
        claims = groups.setdefault(group_of(subject.name), [])
        claims.append(f"{subject.claim.event} ({subject.adjacency.value})")
    columns = [
        TextColumn("audited", tuple(clean(name) for name in groups)),
        TextColumn("claims", tuple(f"{len(claims)}" for claims in groups.values()), right=True),
        TextColumn("such as", tuple(claims[0] for claims in groups.values())),
    ]
    return table(columns, ink=ink)
