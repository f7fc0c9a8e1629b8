"""The worked example of CONTRIBUTING.md is a mechanism that passes the suite."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import tests.laws.test_mechanisms as laws

import jali.mechanisms
from jali.audit import Registration, Verdict, audit_exactly
from jali.mechanisms import Mechanism, Specimen

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()


@pytest.fixture(scope="module")
def example() -> type[Mechanism]:
    """Load the block as the module it says it is."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    # The same text as a file, so that linters and the type checker see it.
    assert code == (Path(__file__).parent / "clamped_laplace.py").read_text()
    module = ModuleType("jali.mechanisms.clamped_laplace")
    sys.modules[module.__name__] = module
    exec(compile(code, "clamped_laplace.py", "exec"), module.__dict__)
    found = module.__dict__["ClampedLaplace"]
    assert isinstance(found, type)
    return found


@pytest.fixture(scope="module")
def specimen(example: type[Mechanism]) -> Specimen:
    return example.specimens()[0]


def test_the_example_keeps_the_laws(example: type[Mechanism], specimen: Specimen) -> None:
    laws.test_a_mechanism_has_specimens_of_its_own_kind(example)
    laws.test_parameters_are_keyword_only_and_kept_as_fields(example)
    laws.test_bad_parameters_are_refused_by_name(example)
    laws.test_exact_masses_sum_to_one(specimen)
    laws.test_error_shrinks_as_the_loss_grows(specimen)
    laws.test_the_loss_claimed_is_the_loss_given(specimen)
    laws.test_the_loss_grows_with_the_sensitivity_as_stated(specimen)
    laws.test_releases_have_the_law_they_claim_and_not_that_of_another_loss(specimen)
    laws.test_error_is_the_quantile_of_the_deviation_or_bounds_it(specimen)


def test_the_example_passes_the_audit_tightly(specimen: Specimen) -> None:
    finding = audit_exactly(Registration.of(specimen))
    assert finding.verdict is Verdict.NOTHING_FOUND
    assert finding.found == pytest.approx(finding.claimed, rel=1e-9)


def test_the_registration_line_is_of_the_form_that_the_stub_has() -> None:
    line = "from .clamped_laplace import ClampedLaplace as ClampedLaplace"
    assert line in PAGE
    stub = (Path(jali.mechanisms.__file__).parent / "__init__.pyi").read_text()
    assert line.replace("clamped_laplace", "laplace").replace("ClampedLaplace", "Laplace") in stub
