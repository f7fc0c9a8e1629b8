"""The runner: which stages run, with which share of the effort, and what the whole says."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

from jali.errors import CatalogError
from jali.lab.audit import Audit, Audits, Effort, Finding, Subject, Verdict, Witness, audit, audit_all, loss_bounds
from jali.lab.audit.events.output_event import Threshold
from jali.lab.audit.runner import STAGES, WEIGHTS, estimate_samples
from jali.lab.audit.subject import Outputs, Progress, Tester, silent
from jali.privacy import Adjacency, Approximate, Pure


def drawn(value: float, count: int, random: np.random.Generator | None) -> Outputs:
    assert random is not None
    return value + random.laplace(0, 1, (count, 1))


SUBJECT = Subject("thing, size 1", Pure(1), Adjacency.REPLACE_ONE, ((0, 1),), drawn)
EVENT = Threshold(0, 1.0)


class Canned(Tester):
    """Says what it was told to say, and remembers what it was given."""

    name: ClassVar[str] = "canned"

    def __init__(self, name: str, found: float, *, kind: str = "epsilon", needed: int | None = None) -> None:
        self.name = name  # type: ignore[misc]
        self.found, self.kind, self.needed = found, kind, needed
        self.given: list[Effort] = []
        self.subjects: list[str] = []

    def applies(self, subject: Subject) -> bool:
        return self.kind != "never"

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        self.given.append(effort)
        self.subjects.append(subject.name)
        exact = self.name == "exact"
        claimed = 0.0 if self.kind == "distance" else 1.0
        return Finding(
            subject.name,
            subject.adjacency,
            self.kind,
            claimed,
            self.found,
            Witness(subject.pairs[0], event=None if exact else EVENT, hits=(500, 250), runs=(1000, 1000)),
            Verdict.VIOLATION if self.found > claimed else Verdict.NOTHING_FOUND,
            self.name,
            1.0 if exact else float(effort.confidence),
            0 if exact else effort.samples // 2,
            self.needed,
            f"tricks of {self.name}",
        )


def run(*testers: Tester, subject: Subject = SUBJECT, onward: bool = False) -> Audit:
    return audit(subject, Effort(1000, Fraction(9, 10), seed=1), testers, onward=onward)


def test_stages_come_in_the_order_of_the_lab_each_with_a_weight() -> None:
    names = [tester.name for tester in STAGES]
    assert names == ["exact", "properties", "shape", "reachability", "pairwise", "one run"]
    assert set(names) == set(WEIGHTS)


def test_stages_share_the_error_and_the_samples_that_those_before_left() -> None:
    exact, shape, pairwise = Canned("exact", 0.5), Canned("shape", 0, kind="distance"), Canned("pairwise", 0.5)
    made = run(exact, shape, pairwise)
    heavy = Fraction(WEIGHTS["pairwise"], WEIGHTS["pairwise"] + WEIGHTS["shape"])
    assert exact.given[0] == Effort(1000, Fraction(9, 10), seed=1)
    assert pairwise.given[0].confidence == 1 - heavy / 10
    errors = [1 - stage.given[0].confidence for stage in (shape, pairwise)]
    assert sum(errors) == Fraction(1, 10)
    first = shape.given[0].samples
    assert first == int(1000 * (1 - heavy))
    # Half of what it was given was left.
    assert pairwise.given[0].samples == 1000 - first // 2
    assert made.samples == first // 2 + pairwise.given[0].samples // 2


def test_an_audit_stops_at_the_first_violation_unless_told_to_go_on() -> None:
    stages = [Canned("shape", 0, kind="distance"), Canned("reachability", 2.0), Canned("pairwise", 3.0)]
    assert [one.tester for one in run(*stages).findings] == ["shape", "reachability"]
    onward = run(*stages, onward=True)
    assert [one.tester for one in onward.findings] == ["shape", "reachability", "pairwise"]
    assert onward.best.found == 3.0


def test_stages_that_do_not_apply_are_left_out_and_take_nothing() -> None:
    never, pairwise = Canned("shape", 0, kind="never"), Canned("pairwise", 0.5)
    made = run(never, pairwise)
    assert not never.given
    assert pairwise.given[0].confidence == Fraction(9, 10)
    assert [one.tester for one in made.findings] == ["pairwise"]


def test_a_subject_that_no_stage_takes_is_refused() -> None:
    with pytest.raises(CatalogError, match=r"No audit stage applies to thing, size 1\."):
        run(Canned("shape", 0, kind="never"))


def test_the_best_finding_is_a_violation_or_comes_nearest_to_the_claim() -> None:
    assert run(Canned("shape", 0.0, kind="distance"), Canned("pairwise", 0.6)).best.tester == "pairwise"
    assert run(Canned("exact", 0.9), Canned("pairwise", 0.6)).best.tester == "exact"
    assert run(Canned("exact", 0.9), Canned("shape", 0.2, kind="distance")).verdict is Verdict.VIOLATION


def test_a_pass_says_what_was_tried_the_bound_and_its_confidence() -> None:
    made = run(Canned("shape", 0.0, kind="distance"), Canned("pairwise", 0.65789, needed=123_456))
    told = str(made)
    assert "no violation found up to epsilon 0.657 of 1 claimed, at 90 % confidence" in told
    assert "tricks of shape" in told
    assert "tricks of pairwise" in told
    assert "about 120,000 samples would decide" in told
    assert "0.5 (500 of 1,000) against 0.25 (250 of 1,000)" in told
    assert "epsilon 1 (replace-one)" in told
    assert made.needed == 123_456


def test_a_violation_is_said_with_its_witness() -> None:
    made = run(Canned("pairwise", 1.31999))
    assert "violation: claims epsilon 1, loses at least 1.31, at 90 % confidence" in str(made)
    assert "number 1 of the output is at least 1" in str(made)
    assert made.witness.inputs == (0, 1)
    assert made.needed is None


def test_exact_bounds_need_no_confidence() -> None:
    made = run(Canned("exact", 1.0))
    assert made.confidence == 1
    assert "no violation found up to epsilon 1 of 1 claimed, exactly" in str(made)


def test_outputs_off_their_stated_law_are_a_violation_of_their_own_kind() -> None:
    made = run(Canned("shape", 0.12345, kind="distance"))
    told = str(made)
    assert "violation of the stated law: outputs depart from it by a distance of at least 0.123" in told
    assert "whether more is lost than claimed is not known from this" in " ".join(told.split())
    assert "loses" not in told
    assert "loses" not in str(made.best)


@pytest.mark.parametrize("found", [0.0, 0.3, 1.0, 7.0, math.inf])
def test_nothing_that_an_audit_says_calls_a_subject_private(found: float) -> None:
    made = run(Canned("pairwise", found))
    many = Audits((made,), made.effort, made.seconds)
    forms = [str(made), repr(made), made._repr_html_(), str(many), repr(many), many._repr_html_()]
    forms += [json.dumps(made.to_dict()), json.dumps(many.to_dict())]
    for form in forms:
        assert not re.search(r"\bprivate\b|\bsafe\b|\bsecure\b", form)


def test_the_document_is_plain_json() -> None:
    document = json.loads(json.dumps(run(Canned("pairwise", math.inf)).to_dict(), allow_nan=False))
    assert (document["verdict"], document["claimed"], document["found"]) == ("violation", 1.0, None)
    assert document["findings"][0]["hits"] == [500, 250]
    assert document["claim"] == "epsilon 1"


def test_the_interval_reaches_from_the_bound_to_what_the_counts_allow() -> None:
    low, high = run(Canned("pairwise", 0.55)).interval
    most, least = stats.beta.ppf(0.95, 501, 500), stats.beta.ppf(0.05, 250, 751)
    assert low == 0.55
    # Bounds that hold whenever an audit stops are wider than those for a number of runs that was fixed before.
    fixed = math.log(most / least)
    assert fixed < high < fixed + 0.25
    assert high == pytest.approx(math.log((1 - least_at_all_looks(500)) / least_at_all_looks(250)), rel=1e-9)
    assert run(Canned("exact", 0.5)).interval == (0.5, 0.5)


def least_at_all_looks(count: int) -> float:
    return loss_bounds.bound_probability(count, 1000, 0.05)


def test_of_distant_inputs_steps_are_told_and_both_ends_are_about_one() -> None:
    def apart(steps: int) -> Audit:
        made = run(Canned("pairwise", 0.05))
        (one,) = made.findings
        return replace(made, findings=(replace(one, witness=replace(one.witness, steps=steps)),))

    assert apart(8).interval[1] == pytest.approx(apart(1).interval[1] / 8)
    assert "8 neighbours" in str(apart(8))
    assert "apart" not in str(apart(1))
    assert apart(8).to_dict()["findings"][0]["steps"] == 8


def test_progress_names_the_stage_and_the_place_among_all() -> None:
    told: list[str] = []
    audit_all([SUBJECT, SUBJECT], Effort(10), [Canned("pairwise", 0.5)], progress=told.append)
    assert told == ["1 of 2: thing, size 1: pairwise", "2 of 2: thing, size 1: pairwise"]


def named(*names: str) -> Sequence[Subject]:
    return [Subject(name, Pure(1), Adjacency.ADD_REMOVE, ((0, 1),), drawn) for name in names]


def test_many_audits_share_the_error() -> None:
    stage = Canned("pairwise", 0.5)
    made = audit_all(named("a", "b", "c"), Effort(10, Fraction(97, 100)), [stage])
    assert [effort.confidence for effort in stage.given] == [Fraction(99, 100)] * 3
    assert float(made.effort.confidence) == 0.97


class Varied(Canned):
    """Finds a loss that is the last word of the name."""

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        self.found = float(subject.name.split()[-1])
        return super().audit(subject, effort, progress)


def test_many_audits_are_told_by_group_with_the_most_telling_first() -> None:
    made = audit_all(
        named("one, at .2", "two, at .9", "one, at .7", "one, at 1.4"), Effort(10), [Varied("pairwise", 0)]
    )
    assert {name: [one.best.found for one in held] for name, held in made.groups.items()} == {
        "one": [1.4, 0.7, 0.2],
        "two": [0.9],
    }
    assert [one.name for one in made.violations] == ["one, at 1.4"]
    assert made.telling.name == "one, at 1.4"
    lines = str(made).splitlines()
    assert re.split(r" {2,}", lines[2])[:3] == ["one", "3", "epsilon 1"]
    assert "4 claims: 1 violation, at 99 % confidence for all together" in lines[-1]


def test_claims_with_a_delta_are_told_with_it() -> None:
    subject = Subject("thing", Approximate(1, "1e-5"), Adjacency.ADD_REMOVE, ((0, 1),), drawn)
    assert "epsilon 1, delta 1e-05 (add-remove)" in str(run(Canned("pairwise", 0.4), subject=subject))


def test_the_pace_of_a_subject_bounds_its_samples() -> None:
    def slow(value: Any, count: int, _: np.random.Generator | None) -> Outputs:
        return np.array([[math.fsum(value + i for i in range(20_000))] for _ in range(count)])

    quick, lazy = SUBJECT, Subject("slow", Pure(1), Adjacency.REPLACE_ONE, ((0, 1),), slow)
    assert estimate_samples(quick, 1e6, 1000) == 1000
    # A sum of so many terms takes at least half a millisecond anywhere.
    assert estimate_samples(lazy, 0.5, 10**9) <= 1000
    assert estimate_samples(lazy, 1e-9, 10**9) == 100


def test_the_stages_find_what_is_wrong_with_noise_of_half_the_scale() -> None:
    # The event with the largest loss has odds of e^2: missed with probability far below 1e-9 at this size.
    made = audit(Subject("half", Pure(1), Adjacency.REPLACE_ONE, ((0, 1),), half), Effort(60_000, seed=3))
    assert made.verdict is Verdict.VIOLATION
    assert made.best.found > 1
    assert made.samples <= 60_000


def half(value: float, count: int, random: np.random.Generator | None) -> Outputs:
    assert random is not None
    # On a lattice, so that it is the scale which is found, and not the digits.
    return np.round((value + random.laplace(0, 0.5, (count, 1))) * 4) / 4
