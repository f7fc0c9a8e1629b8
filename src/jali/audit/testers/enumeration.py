"""Exact enumeration: where the probabilities of all outputs are known, the loss is computed and not estimated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from jali.audit.effort import Effort
from jali.audit.exact import audit_exactly
from jali.audit.finding import Finding
from jali.audit.subject import Pair, Subject
from jali.audit.testers.tester import Progress, Tester, silent
from jali.errors import CatalogError
from jali.mechanisms.mechanism import LogMasses
from jali.privacy import Adjacency, Loss


@dataclass(frozen=True)
class _Stated:
    """A subject as the exact audit takes it."""

    name: str
    claim: Loss
    adjacency: Adjacency
    neighbours: tuple[Pair, ...]
    log_masses: Callable[[Any], LogMasses]


class Enumeration(Tester):
    """Computes the loss of a subject that knows its exact law, over all of its neighbours, without sampling.

    Statement:
        jali.audit.exact: every reading of the claim, to a relative 1e-9.
    """

    name: ClassVar[str] = "exact"

    def applies(self, subject: Subject) -> bool:
        """Return whether the law of the subject is known, and a pair of neighbours."""
        return subject.log_masses is not None and bool(subject.pairs)

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:  # noqa: ARG002
        """Compute; the effort plays no part, as nothing is drawn."""
        law = known_law(subject)
        progress(f"enumerating the outputs of {len(subject.pairs)} pairs")
        stated = _Stated(subject.name, subject.claim, subject.adjacency, subject.pairs, law)
        tried = f"all outputs of {len(subject.pairs)} pairs, by their exact probabilities"
        return replace(audit_exactly(stated), tester=self.name, tried=tried)


def known_law(subject: Subject) -> Callable[[Any], LogMasses]:
    """Return the exact law of a subject, or refuse one that has none."""
    if subject.log_masses is None:
        raise CatalogError("audited-without-law", subject=subject.name)
    return subject.log_masses
