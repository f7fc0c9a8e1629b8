"""Everything that Jali has is registered with the auditor: what is missing here fails."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.depth import DEPTH, deep

import jali.mechanisms as mechanisms_package
from jali.audit.effort import Effort
from jali.audit.exact import audit_exactly
from jali.audit.finding import Verdict
from jali.audit.jali_subjects.path import Path
from jali.audit.jali_subjects.paths import AGGREGATES as AUDITED_AGGREGATES
from jali.audit.jali_subjects.paths import PATHS
from jali.audit.jali_subjects.people import Whose
from jali.audit.jali_subjects.streams import FOLLOWED, STREAMS
from jali.audit.outcome import group_of
from jali.audit.registry import AUDITED, REGISTRY
from jali.audit.subject import Subject
from jali.audit.subjects import entries, mechanisms, subjects_named
from jali.audit.testers.enumeration import Enumeration
from jali.errors import CatalogError
from jali.mechanisms.joint_measure import Coordinate
from jali.mechanisms.keys.noisy_counts import NoisyCounts
from jali.mechanisms.workloads.measured_cells import MeasuredCells
from jali.planner import Plan
from jali.privacy import Adjacency
from jali.query.aggregates import AGGREGATES
from jali.streams import counters

# To make a subject takes a while: its laws are computed.
SOME = entries()[:: 4 if DEPTH == 1 else 1]


def test_every_mechanism_randomizer_and_counter_is_registered() -> None:
    kinds = {mechanism.__name__ for mechanism in AUDITED}
    found = [one.group for one in entries() if one.group in kinds]
    assert set(found) == kinds
    assert len(found) == len(REGISTRY)


def test_every_aggregate_of_the_question_language_is_registered() -> None:
    assert {path.name for path in AUDITED_AGGREGATES} == set(AGGREGATES)
    for path in AUDITED_AGGREGATES:
        assert path.asked.startswith(f"{path.name.upper()}("), path.title


def test_every_measure_and_every_counter_of_a_stream_is_registered() -> None:
    assert {path.measure for path in STREAMS} == {"count", "sum", "mean", "cdf"}
    assert {path.counter for path in STREAMS} == {None, *counters()}
    assert {path.whose for path in FOLLOWED} == set(Whose)


def test_rows_and_people_are_audited_in_both_adjacencies() -> None:
    assert {(path.whose, path.adjacency) for path in PATHS} == {(w, a) for w in Whose for a in Adjacency}


def test_names_are_told_apart_and_found_again() -> None:
    names = [one.name for one in entries()]
    assert len(set(names)) == len(names)
    assert all(one.subject.source == one.name for one in SOME)
    assert subjects_named(names[0]) == (entries()[0].subject,)
    assert {group_of(one.name) for one in subjects_named("median")} == {"median"}
    assert len(subjects_named("laplace")) == len(mechanisms_package.Laplace.specimens())


def test_a_line_of_the_registry_says_what_its_subject_is() -> None:
    for one in SOME:
        subject = one.subject
        assert (one.name, one.claim, one.adjacency) == (subject.name, subject.claim, subject.adjacency)


def test_a_name_that_nothing_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(CatalogError, match="Nothing is registered as 'lapace'") as problem:
        subjects_named("lapace")
    assert "Laplace" in str(problem.value.remedy)


@pytest.fixture(scope="module")
def plans() -> dict[Path, Plan]:
    """The plans of all questions; how many copies there are changes nothing in them."""
    made = {}
    for path in PATHS:
        small = replace(path, copies=2)
        with small.table.opened(path.pairs[0][0]) as database:
            made[path] = database.explain(small.question, **small.given())
    return made


def test_a_question_claims_what_it_is_charged(plans: dict[Path, Plan]) -> None:
    for path, plan in plans.items():
        cost = dict(plan.costs)["people"]
        claimed = path.claim.event
        assert (cost.epsilon, cost.delta) == (claimed.epsilon, claimed.delta), path.title
        if claimed.epsilon is None:
            assert float(claimed.rho) * (1 - 1e-9) <= float(cost.rho) <= float(claimed.rho), path.title


def test_every_kind_of_noise_and_choice_that_a_plan_has_is_reached(plans: dict[Path, Plan]) -> None:
    held: set[type] = {type(one) for plan in plans.values() for part in plan.parts for one in part.mechanisms}
    held |= {type(plan.selection) for plan in plans.values() if plan.selection is not None}
    names = {kind.__name__ for kind in held}
    assert {
        "Laplace",
        "Gaussian",
        Coordinate.__name__,
        MeasuredCells.__name__,
        "PermutedWeightedQuantile",
        "WeightedQuantile",
        "PermuteAndFlip",
        "Exponential",
        "OptimalKeys",
        "LaplaceThreshold",
        "GaussianThreshold",
    } <= names
    assert any(issubclass(kind, NoisyCounts) for kind in held)


@deep
def test_draws_of_every_mechanism_are_outputs_of_its_law() -> None:
    some = {group_of(subject.name): subject for subject in mechanisms()}
    coded = [subject for subject in mechanisms() if subject.encoder is not None]
    for subject in (*some.values(), *coded):
        assert subject.log_masses is not None
        law = subject.log_masses(subject.pairs[0][0])
        keys = np.array([key if isinstance(key, tuple) else (key,) for key in law], np.float64)
        known = set(map(tuple, keys.tolist()))
        outputs = subject.draw(subject.pairs[0][0], 5, None)
        assert outputs.shape == (5, keys.shape[1]), subject.name
        # Outside the window of an infinite law lies less than 1e-11.
        assert set(map(tuple, outputs.tolist())) <= known, subject.name


def _by_name(name: str) -> Subject:
    return subjects_named(name)[0]


@pytest.mark.parametrize("name", ["SparseVector", "OptimalKeys", "LaplaceThreshold", "StableValue", "Laplace"])
def test_outputs_as_numbers_lose_as_much_as_they_are(name: str) -> None:
    """Different outcomes are different rows, so that the exact loss is the one without an encoder."""
    subject = _by_name(name)
    registration = next(one for one in REGISTRY if subject.name.startswith(one.name))
    plain, coded = audit_exactly(registration), Enumeration().audit(subject, Effort())
    assert coded.verdict is plain.verdict is Verdict.NOTHING_FOUND
    assert coded.found == pytest.approx(plain.found, rel=1e-12)
    assert (coded.kind, coded.claimed) == (plain.kind, plain.claimed)


def test_what_is_no_number_has_words() -> None:
    subject = _by_name("StableValue")
    assert subject.encoder is not None
    assert "a" in dict(subject.encoder.words).values()
    assert _by_name("Laplace").encoder is None


def test_pairs_of_mechanisms_reach_the_claim_where_it_is_tight() -> None:
    """The exact law of Warner's randomized response, by hand: the likelier answer is e^epsilon times as likely."""
    subject = _by_name("Warner")
    assert subject.log_masses is not None
    one, other = (subject.log_masses(value) for value in subject.pairs[0])
    ratios = [abs(one[key] - other[key]) for key in one]
    assert max(ratios) == pytest.approx(float(subject.claim.event.epsilon or math.nan))
