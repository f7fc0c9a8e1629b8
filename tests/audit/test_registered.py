"""What `jali audit all` does in brief, for everything that is registered: no claim is refuted.

Jali's noise has no seed; of all tests here together one fails by chance less often than once in a million runs.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.depth import DEPTH, thinned, whole

from jali.lab.audit import Effort, Subject, Verdict, audit
from jali.lab.audit.runner import choose_stages
from jali.lab.audit.subjects.question_subjects import PATHS, SESSIONS
from jali.lab.audit.subjects.registration import AUDITED
from jali.lab.audit.subjects.stream_subjects import FOLLOWED, STREAMS
from jali.lab.audit.subjects.subject_registry import SubjectEntry, list_databases, list_entries

_SURE = 1 - Fraction(1, 10**6 * len(list_entries()))
# Their laws are computed by the tests that run, and not to name them.
_KINDS = {mechanism.__name__ for mechanism in AUDITED}
_MECHANISMS = [entry for entry in list_entries() if entry.group in _KINDS]
_OF_LAWS, _BITS, _FEWEST = 300, 1024, 40
# Copies take time: deep runs have as many as `jali audit all`, and ten times the samples.
_FEWER = 1 if DEPTH > 1 else 5


def _checked(subject: Subject, samples: int) -> None:
    found = audit(subject, Effort(samples * DEPTH, _SURE), choose_stages(subject))
    assert found.verdict is Verdict.NOTHING_FOUND, found
    assert found.findings


@whole
@thinned(4)
@pytest.mark.parametrize("entry", _MECHANISMS, ids=lambda entry: entry.name)
def test_no_claim_of_a_mechanism_is_refuted(entry: SubjectEntry) -> None:
    _checked(entry.subject, _OF_LAWS)


@thinned(2)
@pytest.mark.parametrize("subject", list_databases(), ids=lambda subject: subject.name)
def test_no_claim_of_a_database_under_attack_is_refuted(subject: Subject) -> None:
    _checked(subject, _BITS)


@whole
@thinned(4)
@pytest.mark.parametrize("path", [*PATHS, *STREAMS, *FOLLOWED, *SESSIONS], ids=lambda path: path.title)
def test_no_claim_of_a_question_a_stream_or_a_session_is_refuted(path: Any) -> None:
    fewer = {name: max(1, getattr(path, name) // _FEWER) for name in ("copies", "batch") if hasattr(path, name)}
    subject = replace(path, **fewer).subject()
    _checked(subject, max(_FEWEST, subject.batch))


def test_nothing_that_is_registered_is_left_out() -> None:
    tested = (*_MECHANISMS, *list_databases(), *PATHS, *STREAMS, *FOLLOWED, *SESSIONS)
    assert len(tested) == len(list_entries())
