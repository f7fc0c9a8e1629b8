"""Audits as people read them: what was tried, the bound and its confidence. No more than that is ever said."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from jali.audit.finding import Finding, Verdict
from jali.audit.leaves import MOST_ITEMS
from jali.audit.outcome import LOSSES
from jali.audit.shown import shown, side_by_side
from jali.audit.testers.reachability import Reachability
from jali.audit.testers.shape import Shape
from jali.audit.wording import in_words
from jali.display.ink import PLAIN, Ink
from jali.display.numbers import show_at_least
from jali.display.text import WIDTH, TextColumn, clean, facts, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jali.audit.encoding import Encoder
    from jali.audit.outcome import Audit, Audits
    from jali.audit.subjects import Entry
    from jali.audit.witness_file import Replay

# How long a name may be in a table, and which share of a claim is little to have shown.
_NAME, _LITTLE = 48, 0.01
_VERDICTS = {Verdict.VIOLATION: "violation", Verdict.NOTHING_FOUND: "no violation"}
_WEAK = "0 %: so few samples show nothing there; --deep SECONDS tries longer."
_UNCOVERED = (
    "what is proved of the stated law does not cover outputs that are not of it; "
    "whether more is lost than claimed, this does not say"
)
_REST = f"items past {MOST_ITEMS} of a collection are compared as a whole: only whether they are the same"
_DIGITS = "noise in doubles leaves traces in its last digits: round the output, or draw discrete noise"


def report(audit: Audit, *, width: int = WIDTH, ink: Ink = PLAIN) -> str:
    """Write an audit as a title and its facts."""
    return f"{ink.strong(clean(audit.name))}\n\n{facts(told(audit), width=width, ink=ink)}"


def told(audit: Audit) -> list[tuple[str, str]]:
    """Return the facts of an audit, each with its label."""
    return [
        ("claim", f"{audit.subject.claim.event} ({audit.subject.adjacency.value})"),
        ("verdict", sentence(audit)),
        *_why(audit.best),
        *([] if audit.needed is None else [("more", _more(audit.needed))]),
        *_witness(audit.best, audit.subject.encoder),
        *(("" if place else "tried", _tried(finding)) for place, finding in enumerate(audit.findings)),
        *([("not tried", _REST)] if audit.subject.encoder is not None and audit.subject.encoder.cuts else []),
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
    if finding.kind == Shape.kind and finding.verdict is Verdict.VIOLATION:
        return f"violation of the stated law: outputs are not of it, by a distance of {below(finding)} at least"
    if finding.verdict is Verdict.VIOLATION:
        return f"violation: {finding.kind} {below(finding)} where {finding.claimed:g} is stated"
    return f"no violation found: {finding.kind} of {finding.claimed:g} stated"


def at_confidence(confidence: float) -> str:
    """Say how sure a bound is."""
    return "exactly" if confidence == 1 else f"at {100 * confidence:.10g} % confidence"


def below(finding: Finding) -> str:
    """Write a found loss: cut off after three digits and never rounded up, unless it is exact."""
    found = finding.found
    if not math.isfinite(found):
        return "everything"
    return f"{found:g}" if finding.confidence == 1 else show_at_least(found)


def seconds(taken: float) -> str:
    """Write how long something took."""
    return f"{taken:.2g} s" if taken < 10 else f"{taken:.0f} s"


def _more(needed: int) -> str:
    about = float(f"{needed:.1e}")
    return f"the rates lie above the claim, which may be chance: about {about:,.0f} samples would tell"


def _why(finding: Finding) -> list[tuple[str, str]]:
    """Say what a verdict means, where that is not plain."""
    if finding.verdict is Verdict.VIOLATION:
        why = {Reachability.name: _DIGITS, Shape.name: _UNCOVERED}.get(finding.tester)
        return [] if why is None else [("why", why)]
    if finding.kind not in LOSSES or finding.confidence == 1:
        return []
    return [("that is", "so much is lost at least; what was tried shows no more, and more may be lost")]


def _tried(finding: Finding) -> str:
    return f"{finding.tester}: {finding.tried}" if finding.tried else finding.tester


def _witness(finding: Finding, encoder: Encoder | None) -> list[tuple[str, str]]:
    """Tell the inputs and the event, with its rates; nothing where nothing was found."""
    witness = finding.witness
    if finding.found <= 0:
        return []
    facts_ = [("inputs", "  against  ".join(side_by_side(*witness.inputs)))]
    if witness.steps != 1:
        facts_.append(("apart", f"{witness.steps} neighbours; the loss is that of one step"))
    if witness.event is not None:
        facts_.append(("event", clean(in_words(witness.event, encoder))))
    elif witness.at is not None:
        facts_.append(("at", shown(witness.at)))
    if all(witness.runs):
        facts_.append(("rates", rates(witness.hits, witness.runs)))
    return facts_


def rates(hits: tuple[int, int], runs: tuple[int, int]) -> str:
    """Write how often an event occurred under both inputs."""
    shown = [f"{hit / run:.4g} ({hit:,} of {run:,})" for hit, run in zip(hits, runs, strict=True)]
    return " against ".join(shown)


def reports(audits: Audits, *, ink: Ink = PLAIN, width: int = WIDTH) -> str:
    """Write audits as one table.

    Of several groups a row for each, with the claim that came nearest to being refuted; of one group, or where
    somebody asked for a name, a row for each claim.
    """
    groups = audits.groups
    rows = [(name, held[0]) for name, held in groups.items()]
    if len(groups) == 1:
        rows = [(one.name.removeprefix(f"{one.group}, "), one) for one in audits.audits]
    counts = tuple(f"{len(groups[one.group])}" for _, one in rows)
    columns = [
        TextColumn("audited", tuple(shown(clean(name), _NAME) for name, _ in rows)),
        *([TextColumn("claims", counts, right=True)] if len(groups) > 1 else []),
        TextColumn("claimed", tuple(f"{one.best.kind} {one.best.claimed:g}" for _, one in rows)),
        TextColumn("loss shown", tuple(_found(one) for _, one in rows), right=True),
        TextColumn("share", tuple(_share(one) for _, one in rows), right=True),
        TextColumn("by", tuple(_by(one) for _, one in rows)),
        TextColumn("verdict", tuple(_VERDICTS[one.verdict] for _, one in rows)),
    ]
    weak = any(one.verdict is Verdict.NOTHING_FOUND and one.share < _LITTLE for _, one in rows)
    notes = [_summary(audits), *([_WEAK] if weak else [])]
    return "\n".join([table(columns, ink=ink), "", *(textwrap.fill(note, width) for note in notes)])


def _by(audit: Audit) -> str:
    """Return the stage that found most; nothing where none found anything."""
    return audit.best.tester if audit.best.found > 0 else ""


def _found(audit: Audit) -> str:
    """Write what was found, as an interval of the event's loss where it is not exact."""
    low, high = below(audit.best), audit.interval[1]
    if audit.best.confidence == 1:
        return low
    if audit.best.found <= 0:
        return ""
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
    told_ = [
        ("claim", f"{finding.kind} {finding.claimed:g} ({finding.adjacency})"),
        ("then", f"{replay.before.kind} {below(replay.before)}, {at_confidence(replay.before.confidence)}"),
        ("now", f"{finding.kind} {below(finding)}, {at_confidence(finding.confidence)}"),
        *_witness(finding, replay.encoder),
        ("reproduces", _again(replay)),
    ]
    return f"{ink.strong(clean(finding.name))}\n\n{facts(told_, width=width, ink=ink)}"


def _again(replay: Replay) -> str:
    if replay.reproduces is not None:
        return "yes" if replay.reproduces else "no"
    now = replay.finding.verdict is Verdict.VIOLATION
    return "there was no violation to reproduce" + (", and there is one now" if now else "")


def listed(entries: Sequence[Entry], *, ink: Ink = PLAIN) -> str:
    """Write what can be audited by name, with the number of its claims and one of them."""
    groups: dict[str, list[str]] = {}
    for one in entries:
        groups.setdefault(one.group, []).append(f"{one.claim.event} ({one.adjacency.value})")
    columns = [
        TextColumn("audited", tuple(clean(name) for name in groups)),
        TextColumn("claims", tuple(f"{len(claims)}" for claims in groups.values()), right=True),
        TextColumn("such as", tuple(claims[0] for claims in groups.values())),
    ]
    return table(columns, ink=ink)
