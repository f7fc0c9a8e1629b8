"""Everything that Jali has is registered with the auditor: what is missing here fails."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.depth import DEPTH, deep

import jali.mechanisms as mechanisms_package
from jali.errors import CatalogError
from jali.ir.functions.aggregate_functions import AGGREGATES
from jali.lab.audit.audits import strip_parameters
from jali.lab.audit.subject import Effort, Subject, Verdict
from jali.lab.audit.subjects.question_subjects import AGGREGATES as AUDITED_AGGREGATES
from jali.lab.audit.subjects.question_subjects import PATHS, QuestionPath
from jali.lab.audit.subjects.registration import AUDITED, REGISTRY
from jali.lab.audit.subjects.stream_subjects import FOLLOWED, STREAMS
from jali.lab.audit.subjects.subject_registry import find_subjects, list_entries, list_mechanisms
from jali.lab.audit.subjects.table_copies import Whose
from jali.lab.audit.testers.enumeration import Enumeration, audit_exactly
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts
from jali.mechanisms.workloads.cell_strategies import MeasuredCells
from jali.planner import Plan
from jali.privacy import Adjacency
from jali.streams import counters

# To make a subject takes a while: its laws are computed.
SOME = list_entries()[:: 4 if DEPTH == 1 else 1]


def test_every_mechanism_randomizer_and_counter_is_registered() -> None:
    kinds = {mechanism.__name__ for mechanism in AUDITED}
    found = [one.group for one in list_entries() if one.group in kinds]
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
    names = [one.name for one in list_entries()]
    assert len(set(names)) == len(names)
    assert all(one.subject.source == one.name for one in SOME)
    assert find_subjects(names[0]) == (list_entries()[0].subject,)
    assert {strip_parameters(one.name) for one in find_subjects("median")} == {"median"}
    assert len(find_subjects("laplace")) == len(mechanisms_package.Laplace.specimens())


def test_a_line_of_the_registry_says_what_its_subject_is() -> None:
    for one in SOME:
        subject = one.subject
        assert (one.name, one.claim, one.adjacency) == (subject.name, subject.claim, subject.adjacency)


def test_a_name_that_nothing_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(CatalogError, match="Nothing is registered as 'lapace'") as problem:
        find_subjects("lapace")
    assert "Laplace" in str(problem.value.remedy)


@pytest.fixture(scope="module")
def plans() -> dict[QuestionPath, Plan]:
    """The plans of all questions; how many copies there are changes nothing in them."""
    made = {}
    for path in PATHS:
        small = replace(path, copies=2)
        with small.table.open_database(path.pairs[0][0]) as database:
            made[path] = database.explain(small.question, **small.list_terms())
    return made


def test_a_question_claims_what_it_is_charged(plans: dict[QuestionPath, Plan]) -> None:
    for path, plan in plans.items():
        cost = dict(plan.costs)["people"]
        claimed = path.claim.event
        assert (cost.epsilon, cost.delta) == (claimed.epsilon, claimed.delta), path.title
        if claimed.epsilon is None:
            assert float(claimed.rho) * (1 - 1e-9) <= float(cost.rho) <= float(claimed.rho), path.title


def test_every_kind_of_noise_and_choice_that_a_plan_has_is_reached(plans: dict[QuestionPath, Plan]) -> None:
    held: set[type] = {type(one) for plan in plans.values() for part in plan.parts for one in part.mechanisms}
    held |= {type(plan.selection) for plan in plans.values() if plan.selection is not None}
    names = {kind.__name__ for kind in held}
    assert {
        "Laplace",
        "Gaussian",
        JointNoiseCoordinate.__name__,
        MeasuredCells.__name__,
        "PermutedWeightedQuantile",
        "WeightedQuantile",
        "PermuteAndFlip",
        "Exponential",
        "OptimalKeys",
        "LaplaceThreshold",
        "GaussianThreshold",
    } <= names
    assert any(issubclass(kind, ThresholdedCounts) for kind in held)


@deep
def test_draws_of_every_mechanism_are_outputs_of_its_law() -> None:
    some = {strip_parameters(subject.name): subject for subject in list_mechanisms()}
    coded = [subject for subject in list_mechanisms() if subject.encoder is not None]
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
    return find_subjects(name)[0]


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
