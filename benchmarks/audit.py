"""The auditor: broken mechanisms caught, honest ones passed, published bounds, floats, and CPU seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from benchmarks.measure import Row, at_least, at_most, reported

from jali.lab.audit import Effort, Finding, Subject, Verdict, adapters, audit
from jali.lab.audit.broken import BROKEN, HONEST, PUBLISHED, broken_additive
from jali.lab.audit.testers.pairwise import Pairwise
from jali.lab.audit.testers.reachability import measure_out_of_reach
from jali.sampling import DiscreteLaplace

_SEED = 7
_SAMPLES = 200_000
# At epsilon 10 the rarer probability of an event must be shown to be below exp(-10).
_MORE: dict[Callable[..., Subject], int] = {broken_additive.classical_gaussian: 16_000_000}
# A minute on one core.
_LIMIT = 60


def rows() -> list[Row]:
    """Audit broken and honest mechanisms, published mechanisms and floats."""
    return [*_broken(), *_published(), *_floats()]


def _broken() -> list[Row]:
    found = []
    for makers, expected in ((BROKEN, Verdict.VIOLATION), (HONEST, Verdict.NOTHING_FOUND)):
        right, longest = 0, 0.0
        for maker in makers:
            finding, seconds = _timed(maker(), Effort(_MORE.get(maker, _SAMPLES), seed=_SEED))
            right += finding.verdict is expected
            longest = max(longest, seconds)
        kind, word = ("broken", "caught") if expected is Verdict.VIOLATION else ("honest", "passed")
        found += [
            Row(f"{kind} mechanisms {word}, of {len(makers)}", right, f"= {len(makers)}", right == len(makers)),
            at_most("  CPU seconds of the slowest", longest, _LIMIT),
        ]
    return found


def _timed(subject: Subject, effort: Effort, *, early: bool = True) -> tuple[Finding, float]:
    start = time.process_time()
    finding = Pairwise(early=early).audit(subject, effort)
    return finding, time.process_time() - start


def _published() -> list[Row]:
    """Reach what was published, at its confidence, with 20 million samples in place of 221 million."""
    found = []
    effort = Effort(20_000_000, Fraction(9, 10), seed=_SEED)
    for name, (maker, bound) in PUBLISHED.items():
        subject = maker()
        finding, seconds = _timed(subject, effort, early=False)
        near, _ = _timed(replace(subject, distant=()), effort, early=False)
        found += [
            at_least(f"{name}, claim 0.1: epsilon proved", finding.found, bound),
            reported("  by neighbours alone", near.found),
            reported("  CPU seconds", seconds),
        ]
    return found


def _floats() -> list[Row]:
    """Tell 0 from 1 by the digits of numpy's Laplace noise, and never by those of ours."""
    noise = np.random.default_rng(_SEED).laplace(0.0, 10.0, 100_000)
    ours = DiscreteLaplace(Fraction(10)).sample(100_000).astype(np.float64)
    subject = adapters.numpy("laplace", scale=10.0, epsilon="0.1", adjacency="add-remove")
    made = audit(subject, Effort(_SAMPLES, seed=_SEED))
    return [
        at_least(
            "numpy's Laplace on 0: share of outputs impossible on 1", measure_out_of_reach(noise, 1.0, 10.0), 0.8
        ),
        at_most("the same of ours", measure_out_of_reach(ours, 1.0), 0),
        at_least("numpy's Laplace, claim 0.1: epsilon proved", made.found, 1),
        reported("  samples", made.samples if made.verdict is Verdict.VIOLATION else math.nan),
    ]


if __name__ == "__main__":
    for row in rows():
        print(row)
