"""Results of the audit of one subject, or of many.

A result holds the findings of all testers, a verdict, the largest bound, and its witness.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from jali.lab.audit import loss_bounds
from jali.lab.audit.subject import Effort, Finding, Subject, Verdict, Witness, abbreviate

# What a lower bound on a loss can be in; other findings are about laws and properties.
LOSSES = ("epsilon", "rho", "delta")


@dataclass(frozen=True, repr=False)
class Audit:
    """What the stages of one audit found.

    All bounds are true together with the probability `confidence`: the stages share the error that is allowed.

    Attributes:
        subject: What was audited.
        findings: What each stage said that applied, in order.
        effort: How hard it tried.
        seconds: How long it took.
    """

    subject: Subject
    findings: tuple[Finding, ...]
    effort: Effort
    seconds: float

    @property
    def name(self) -> str:
        """What was audited."""
        return self.subject.name

    @property
    def group(self) -> str:
        """The kind of thing that was audited: its name without its parameters."""
        return strip_parameters(self.name)

    @property
    def verdict(self) -> Verdict:
        """Whether the claim is refuted."""
        return self.best.verdict

    @property
    def telling(self) -> Audit:
        """Itself: of many audits, the one that says most."""
        return self

    @property
    def best(self) -> Finding:
        """The finding that says most: a violation, or else the loss that comes nearest to its claim."""
        return max(self.findings, key=_rank_finding)

    @property
    def claimed(self) -> float:
        """The claimed loss, in the unit of the finding that says most."""
        return self.best.claimed

    @property
    def found(self) -> float:
        """The largest loss that was found, in that unit."""
        return self.best.found

    @property
    def witness(self) -> Witness:
        """Where it was found."""
        return self.best.witness

    @property
    def share(self) -> float:
        """The largest loss that was found, as a share of the claim."""
        return compute_share(self.best)

    @property
    def interval(self) -> tuple[float, float]:
        """An interval for the loss of the event that was found: see `compute_interval`."""
        return compute_interval(self.best)

    @property
    def confidence(self) -> float:
        """The probability with which all bounds are true; 1 if they are exact."""
        return 1.0 if all(one.confidence == 1 for one in self.findings) else float(self.effort.confidence)

    @property
    def samples(self) -> int:
        """How many outputs were drawn."""
        return sum(one.samples for one in self.findings)

    @property
    def needed(self) -> int | None:
        """About how many would prove a violation, if what was seen is true; None if nothing suggests one."""
        if self.verdict is Verdict.VIOLATION:
            return None
        return min((one.needed for one in self.findings if one.needed is not None), default=None)

    def __repr__(self) -> str:
        from jali.lab.audit.audit_report import write_sentence

        return f"{self.name}: {write_sentence(self)}"

    def __str__(self) -> str:
        from jali.lab.audit.audit_report import write_report

        return write_report(self)

    def _repr_html_(self) -> str:
        from jali.display.html import write_facts, write_section
        from jali.lab.audit.audit_report import list_facts

        return write_section(self.name, write_facts(list_facts(self)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts."""
        from jali.lab.audit.audit_report import write_sentence

        best = self.best
        return {
            "name": self.name,
            "source": self.subject.source,
            "claim": str(self.subject.claim.event),
            "adjacency": self.subject.adjacency.value,
            "verdict": self.verdict.value,
            "said": write_sentence(self),
            "kind": best.kind,
            "claimed": best.claimed,
            "found": _to_json_number(best.found),
            "interval": [_to_json_number(end) for end in self.interval],
            "confidence": self.confidence,
            "samples": self.samples,
            "needed": self.needed,
            "seconds": self.seconds,
            "findings": [finding_to_dict(one) for one in self.findings],
        }

    def plot(self, axes: Any = None) -> Any:
        """Draw what was found against what is claimed, and return the axes (needs matplotlib)."""
        return Audits((self,), self.effort, self.seconds).plot(axes)


@dataclass(frozen=True, repr=False)
class Audits:
    """What the audits of many subjects found.

    Attributes:
        audits: One for each subject.
        effort: What all of them together were allowed: its confidence is that no honest subject is accused.
        seconds: How long all of them took.
    """

    audits: tuple[Audit, ...]
    effort: Effort
    seconds: float

    @property
    def violations(self) -> tuple[Audit, ...]:
        """The audits that refuted a claim."""
        return tuple(one for one in self.audits if one.verdict is Verdict.VIOLATION)

    @property
    def verdict(self) -> Verdict:
        """Whether any claim is refuted."""
        return Verdict.VIOLATION if self.violations else Verdict.NOTHING_FOUND

    @property
    def telling(self) -> Audit:
        """The audit that says most."""
        return max(self.audits, key=lambda one: _rank_finding(one.best))

    @property
    def groups(self) -> dict[str, tuple[Audit, ...]]:
        """The audits by what they are of, with the one that says most first."""
        made: dict[str, list[Audit]] = {}
        for one in self.audits:
            made.setdefault(one.group, []).append(one)
        return {
            name: tuple(sorted(held, key=lambda one: _rank_finding(one.best))[::-1]) for name, held in made.items()
        }

    @property
    def samples(self) -> int:
        """How many outputs were drawn."""
        return sum(one.samples for one in self.audits)

    def __repr__(self) -> str:
        return f"Audits({len(self.audits)} audits, {len(self.violations)} violations)"

    def __str__(self) -> str:
        from jali.lab.audit.audit_report import write_reports

        return write_reports(self)

    def _repr_html_(self) -> str:
        from jali.display.html import write_facts
        from jali.lab.audit.audit_report import write_sentence

        return write_facts((name, write_sentence(held[0])) for name, held in self.groups.items())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts."""
        return {
            "verdict": self.verdict.value,
            "violations": [one.name for one in self.violations],
            "confidence": float(self.effort.confidence),
            "samples": self.samples,
            "seconds": self.seconds,
            "audits": [one.to_dict() for one in self.audits],
        }

    def plot(self, axes: Any = None) -> Any:
        """Draw found against claimed, a row for each group; return the axes (needs matplotlib)."""
        from jali.lab.audit.audit_plots import audits

        return audits(self, axes=axes)


def strip_parameters(name: str) -> str:
    """Return the name of a subject without its parameters.

    Example:
        >>> strip_parameters("Laplace, sensitivity 1, epsilon 1/10")
        'Laplace'
    """
    return name.partition(",")[0]


def compute_share(finding: Finding) -> float:
    """Return a found loss as a share of its claim, 0 where a finding is not about a loss."""
    if finding.kind not in LOSSES or finding.found <= 0:
        return 0.0
    return finding.found / finding.claimed if finding.claimed else math.inf


def compute_interval(finding: Finding) -> tuple[float, float]:
    """Return an interval for the loss of the event that was found: from the bound to what the same counts allow.

    It is about one event: the loss of the subject may be larger. An exact loss is both of its ends; and where
    there are no counts, or the claim is not in epsilon, nothing is said from above. Of inputs that are several
    neighbours apart both ends are about one step.

    Guarantee:
        The upper end is below the loss of the event with probability at most 1 - confidence, whenever the audit
        stopped: its bounds hold at all looks together (`loss_bounds`).
    """
    if finding.confidence == 1:
        return finding.found, finding.found
    (hits, other), (runs, others) = finding.witness.hits, finding.witness.runs
    if finding.kind != "epsilon" or not runs or not others:
        return finding.found, math.inf
    level = (1 - finding.confidence) / 2
    most, least = (
        1 - loss_bounds.bound_probability(runs - hits, runs, level),
        loss_bounds.bound_probability(other, others, level),
    )
    if least <= 0:
        return finding.found, math.inf
    return finding.found, max(finding.found, math.log(most / least) / finding.witness.steps)


def _rank_finding(finding: Finding) -> tuple[bool, float, float, int]:
    """Rank findings: a violation first, then the larger share; of equal ones the surer, and the longer one."""
    return finding.verdict is Verdict.VIOLATION, compute_share(finding), finding.confidence, finding.samples


def finding_to_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain numbers and texts."""
    witness = finding.witness
    return {
        "tester": finding.tester,
        "verdict": finding.verdict.value,
        "kind": finding.kind,
        "claimed": finding.claimed,
        "found": _to_json_number(finding.found),
        "confidence": finding.confidence,
        "samples": finding.samples,
        "needed": finding.needed,
        "tried": finding.tried,
        "inputs": [abbreviate(one) for one in witness.inputs],
        "steps": witness.steps,
        "event": None if witness.event is None else str(witness.event),
        "hits": list(witness.hits),
        "runs": list(witness.runs),
    }


def _to_json_number(value: float) -> float | None:
    """Return a number as JSON has it; None for one without limit."""
    return float(value) if math.isfinite(value) else None
