"""Write audits as text for people: what was tried, the bound, and its confidence.

They never claim more than that. Events are written in the words of the outputs: names of places and texts, in
place of the numbers of columns and hashes.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jali.display.numbers import show_at_least
from jali.display.text import PLAIN, WIDTH, Ink, TextColumn, clean, write_facts, write_table
from jali.lab.audit.audits import LOSSES
from jali.lab.audit.encoder import ANYTHING_ELSE, OTHER_KINDS, Encoder
from jali.lab.audit.events.output_event import Atom, OutputEvent
from jali.lab.audit.flatten import MOST_ITEMS
from jali.lab.audit.subject import Finding, Verdict, abbreviate, abbreviate_pair
from jali.lab.audit.testers.output_shape import OutputShape
from jali.lab.audit.testers.reachability import Reachability

if TYPE_CHECKING:
    from jali.lab.audit.audits import Audit, Audits
    from jali.lab.audit.encoder import Encoder
    from jali.lab.audit.subjects.subject_registry import SubjectEntry
    from jali.lab.audit.witness_file import WitnessReplay


_COLUMN = re.compile(r"number (\d+) of the output")
_SHOWN = 3


def put_in_words(event: OutputEvent, encoder: Encoder | None) -> str:
    """Say an event about encoded outputs as one about the outputs themselves.

    Example:
        >>> encoder = Encoder.fit([["yes", 1.5], ["no", 2.5]])
        >>> put_in_words(Atom((tuple(encoder.encode([["yes", 1.5]])[0]),)), encoder)
        "the output has item 1 'yes', item 2 1.5"
    """
    if encoder is None:
        return str(event)
    if isinstance(event, Atom):
        return _describe_atom(event, encoder)
    return _COLUMN.sub(lambda found: _name_column(encoder, int(found[1]) - 1, found[0]), str(event))


def _name_column(encoder: Encoder, column: int, otherwise: str) -> str:
    return encoder.columns[column] if column < encoder.width else otherwise


def _describe_atom(event: Atom, encoder: Encoder) -> str:
    told = [_describe_row(row, encoder) for row in event.rows[:_SHOWN]]
    more = len(event.rows) - len(told)
    return "the output has " + "; or ".join([*told, *([f"one of {more} other forms"] if more else [])])


def _describe_row(row: Sequence[float], encoder: Encoder) -> str:
    """Describe what the columns of a row hold; the last two only where they hold something."""
    told = [
        f"{name} {encoder.describe(column, value)}".removeprefix("the output ")
        for column, (name, value) in enumerate(zip(encoder.columns, row, strict=True))
        if name not in (OTHER_KINDS, ANYTHING_ELSE) or value
    ]
    return ", ".join(told) or "its usual form"


# How long a name may be in a table, and which share of a claim is little to have shown.
_NAME, _LITTLE = 48, 0.01
_VERDICTS = {Verdict.VIOLATION: "violation", Verdict.NOTHING_FOUND: "no violation"}
_WEAK = "0 %: too few samples to show anything; --deep SECONDS tries longer."
_UNCOVERED = (
    "proofs about the stated law do not cover these outputs; "
    "whether more is lost than claimed is not known from this"
)
_REST = f"items past {MOST_ITEMS} of a collection are compared as a whole: only for equality"
_DIGITS = "noise in doubles leaves traces in its last digits: round the output, or draw discrete noise"


def write_report(audit: Audit, *, width: int = WIDTH, ink: Ink = PLAIN) -> str:
    """Write an audit as a title and its facts."""
    return f"{ink.strong(clean(audit.name))}\n\n{write_facts(list_facts(audit), width=width, ink=ink)}"


def list_facts(audit: Audit) -> list[tuple[str, str]]:
    """Return the facts of an audit, each with its label."""
    return [
        ("claim", f"{audit.subject.claim.event} ({audit.subject.adjacency.value})"),
        ("verdict", write_sentence(audit)),
        *_explain_verdict(audit.best),
        *([] if audit.needed is None else [("more", _advise_samples(audit.needed))]),
        *_write_witness(audit.best, audit.subject.encoder),
        *(("" if place else "tried", _write_attempt(finding)) for place, finding in enumerate(audit.findings)),
        *([("not tried", _REST)] if audit.subject.encoder is not None and audit.subject.encoder.cuts else []),
        ("samples", f"{audit.samples:,} in {say_seconds(audit.seconds)}"),
    ]


def write_sentence(audit: Audit) -> str:
    """Describe what was found, and with which confidence.

    Example:
        >>> say_confidence(0.99), say_confidence(1.0)
        ('at 99 % confidence', 'exactly')
    """
    best = audit.best
    sure = say_confidence(1.0 if best.confidence == 1 else audit.confidence)
    if best.kind not in LOSSES:
        return f"{_write_departure(best)}, {sure}"
    if best.verdict is Verdict.VIOLATION:
        return f"violation: claims {best.kind} {best.claimed:g}, loses at least {say_loss(best)}, {sure}"
    return f"no violation found up to {best.kind} {say_loss(best)} of {best.claimed:g} claimed, {sure}"


def _write_departure(finding: Finding) -> str:
    """Describe what was found that is no loss, such as the distance between outputs and their stated law."""
    if finding.kind == OutputShape.kind and finding.verdict is Verdict.VIOLATION:
        return f"violation of the stated law: outputs depart from it by a distance of at least {say_loss(finding)}"
    if finding.verdict is Verdict.VIOLATION:
        return f"violation: {finding.kind} {say_loss(finding)} where {finding.claimed:g} is stated"
    return f"no violation found: {finding.kind} of {finding.claimed:g} stated"


def say_confidence(confidence: float) -> str:
    """Describe how sure a bound is."""
    return "exactly" if confidence == 1 else f"at {100 * confidence:.10g} % confidence"


def say_loss(finding: Finding) -> str:
    """Write a found loss: cut off after three digits and never rounded up, unless it is exact."""
    found = finding.found
    if not math.isfinite(found):
        return "everything"
    return f"{found:g}" if finding.confidence == 1 else show_at_least(found)


def say_seconds(taken: float) -> str:
    """Write how long something took."""
    return f"{taken:.2g} s" if taken < 10 else f"{taken:.0f} s"


def _advise_samples(needed: int) -> str:
    about = float(f"{needed:.1e}")
    return f"the rates lie above the claim, which may be chance: about {about:,.0f} samples would decide"


def _explain_verdict(finding: Finding) -> list[tuple[str, str]]:
    """Describe what a verdict means, where that is not plain."""
    if finding.verdict is Verdict.VIOLATION:
        why = {Reachability.name: _DIGITS, OutputShape.name: _UNCOVERED}.get(finding.tester)
        return [] if why is None else [("why", why)]
    if finding.kind not in LOSSES or finding.confidence == 1:
        return []
    return [("that is", "at least this much is lost; what was tried shows no more, but more may be lost")]


def _write_attempt(finding: Finding) -> str:
    return f"{finding.tester}: {finding.tried}" if finding.tried else finding.tester


def _write_witness(finding: Finding, encoder: Encoder | None) -> list[tuple[str, str]]:
    """Write the inputs and the event, with its rates; nothing where nothing was found."""
    witness = finding.witness
    if finding.found <= 0:
        return []
    facts_ = [("inputs", "  against  ".join(abbreviate_pair(*witness.inputs)))]
    if witness.steps != 1:
        facts_.append(("apart", f"{witness.steps} neighbours; the loss is that of one step"))
    if witness.event is not None:
        facts_.append(("event", clean(put_in_words(witness.event, encoder))))
    elif witness.at is not None:
        facts_.append(("at", abbreviate(witness.at)))
    if all(witness.runs):
        facts_.append(("rates", say_rates(witness.hits, witness.runs)))
    return facts_


def say_rates(hits: tuple[int, int], runs: tuple[int, int]) -> str:
    """Write how often an event occurred under both inputs."""
    shown = [f"{hit / run:.4g} ({hit:,} of {run:,})" for hit, run in zip(hits, runs, strict=True)]
    return " against ".join(shown)


def write_reports(audits: Audits, *, ink: Ink = PLAIN, width: int = WIDTH) -> str:
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
        TextColumn("audited", tuple(abbreviate(clean(name), _NAME) for name, _ in rows)),
        *([TextColumn("claims", counts, right=True)] if len(groups) > 1 else []),
        TextColumn("claimed", tuple(f"{one.best.kind} {one.best.claimed:g}" for _, one in rows)),
        TextColumn("loss shown", tuple(_write_loss(one) for _, one in rows), right=True),
        TextColumn("share", tuple(_write_share(one) for _, one in rows), right=True),
        TextColumn("by", tuple(_name_tester(one) for _, one in rows)),
        TextColumn("verdict", tuple(_VERDICTS[one.verdict] for _, one in rows)),
    ]
    weak = any(one.verdict is Verdict.NOTHING_FOUND and one.share < _LITTLE for _, one in rows)
    notes = [_summarise(audits), *([_WEAK] if weak else [])]
    return "\n".join([write_table(columns, ink=ink), "", *(textwrap.fill(note, width) for note in notes)])


def _name_tester(audit: Audit) -> str:
    """Return the stage that found most; nothing where none found anything."""
    return audit.best.tester if audit.best.found > 0 else ""


def _write_loss(audit: Audit) -> str:
    """Write what was found, as an interval of the event's loss where it is not exact."""
    low, high = say_loss(audit.best), audit.interval[1]
    if audit.best.confidence == 1:
        return low
    if audit.best.found <= 0:
        return ""
    return f"≥ {low}" if math.isinf(high) else f"{low} … {_write_upper_end(high)}"


def _write_upper_end(value: float) -> str:
    """Write the upper end of an interval, never rounded down."""
    digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{math.ceil(value * 10.0**digits) / 10.0**digits:g}"


def _write_share(audit: Audit) -> str:
    # Cut off: what is not more than claimed is never shown as more.
    return "" if not math.isfinite(audit.share) else f"{math.floor(100 * audit.share + 1e-6)} %"


def _summarise(audits: Audits) -> str:
    count, found = len(audits.audits), len(audits.violations)
    said = "no violation found" if not found else f"{found} violation{'' if found == 1 else 's'}"
    sure = say_confidence(float(audits.effort.confidence))
    taken = say_seconds(audits.seconds)
    return f"{count} claims: {said}, {sure} for all together; {audits.samples:,} samples in {taken}"


def write_replay(replay: WitnessReplay, *, width: int = WIDTH, ink: Ink = PLAIN) -> str:
    """Write what a witness says when it is tried again."""
    finding = replay.finding
    told_ = [
        ("claim", f"{finding.kind} {finding.claimed:g} ({finding.adjacency})"),
        ("then", f"{replay.before.kind} {say_loss(replay.before)}, {say_confidence(replay.before.confidence)}"),
        ("now", f"{finding.kind} {say_loss(finding)}, {say_confidence(finding.confidence)}"),
        *_write_witness(finding, replay.encoder),
        ("reproduces", _write_outcome(replay)),
    ]
    return f"{ink.strong(clean(finding.name))}\n\n{write_facts(told_, width=width, ink=ink)}"


def _write_outcome(replay: WitnessReplay) -> str:
    if replay.reproduces is not None:
        return "yes" if replay.reproduces else "no"
    now = replay.finding.verdict is Verdict.VIOLATION
    return "there was no violation to reproduce" + (", and there is one now" if now else "")


def write_listing(entries: Sequence[SubjectEntry], *, ink: Ink = PLAIN) -> str:
    """Write what can be audited by name, with the number of its claims and one of them."""
    groups: dict[str, list[str]] = {}
    for one in entries:
        groups.setdefault(one.group, []).append(f"{one.claim.event} ({one.adjacency.value})")
    columns = [
        TextColumn("audited", tuple(clean(name) for name in groups)),
        TextColumn("claims", tuple(f"{len(claims)}" for claims in groups.values()), right=True),
        TextColumn("such as", tuple(claims[0] for claims in groups.values())),
    ]
    return write_table(columns, ink=ink)
