"""Mechanisms are registered by where they are defined, not by what their package exports."""

from __future__ import annotations

from inspect import isabstract

import jali.local
import jali.mechanisms
import jali.streams
from jali.lab.audit.subjects.registration import AUDITED
from jali.mechanisms import MECHANISMS, Laplace, Mechanism
from jali.mechanisms.registry import list_mechanisms
from jali.mechanisms.workloads.noisy_cells import NoisyCells


def test_a_mechanism_is_registered_whether_it_is_exported_or_not() -> None:
    assert "NoisyCells" not in jali.mechanisms.__all__
    assert "Laplace" in jali.mechanisms.__all__
    assert {NoisyCells, Laplace} <= set(MECHANISMS)


def test_every_mechanism_that_a_package_exports_is_registered() -> None:
    for package in (jali.mechanisms, jali.local, jali.streams):
        exported = {getattr(package, name) for name in package.__all__}
        kinds = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, Mechanism)}
        assert {kind for kind in kinds if not isabstract(kind)} <= set(list_mechanisms(package))
        assert set(list_mechanisms(package)) <= set(AUDITED)


def test_they_come_by_name_and_once() -> None:
    names = [kind.__name__ for kind in MECHANISMS]
    assert names == sorted(set(names))
