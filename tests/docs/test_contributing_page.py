"""The worked examples of CONTRIBUTING.md are a mechanism and an attack that pass their suites."""

from __future__ import annotations

import math
import re
import sys
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from types import ModuleType

import pytest
import tests.laws.test_attacks as attack_laws
import tests.laws.test_mechanisms as laws

import jali.lab.attacks
import jali.mechanisms
from jali.lab.attacks.staging import attacks, stage
from jali.lab.audit import Registration, Verdict, audit_exactly
from jali.mechanisms import Mechanism
from jali.mechanisms.base import Specimen

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()


def shown(name: str) -> str:
    """Return the block that is this file's text, so that linters and the type checker see it."""
    text = (Path(__file__).parent / name).read_text()
    assert text in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return text


@pytest.fixture(scope="module")
def example() -> type[Mechanism]:
    """Load the block as the module it says it is."""
    code = shown("clamped_laplace.py")
    module = ModuleType("jali.mechanisms.additive.clamped_laplace")
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


@pytest.fixture
def attack(monkeypatch: pytest.MonkeyPatch) -> str:
    """Register the attack under its name."""
    module = ModuleType("jali.lab.attacks.correlation")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(shown("correlation.py"), "correlation.py", "exec"), module.__dict__)
    found = module.__dict__["Correlation"]
    known = attacks()
    monkeypatch.setitem(known, found.name, found)
    return str(found.name)


def test_the_attack_keeps_the_laws(attack: str) -> None:
    attack_laws.test_an_attack_says_what_it_is_and_where_it_comes_from(attack)
    attack_laws.test_exact_answers_give_everything_away(attack)
    attack_laws.test_an_attack_needs_no_more_than_an_oracle_offers(attack)
    for answers in (0, 1, 7):
        attack_laws.test_an_attack_goes_on_with_few_answers(attack, answers)
    attack_laws.test_a_result_is_the_same_for_the_same_seed_and_complete(attack)
    attack_laws.test_the_exhibit_is_as_good_as_its_law(attack)


def test_the_attack_is_as_good_as_its_docstring_says(attack: str) -> None:
    """Seeded: 1024 bits within four standard deviations."""
    result = stage(attack, n=64, noise="gaussian:8", trials=16, seed=1, parameters={"questions": 640}).run()
    right = NormalDist().cdf(0.5 / math.sqrt((64 + 4 * 64) / 640))
    assert abs(result.fraction - right) < 4 * math.sqrt(right * (1 - right) / 1024)
    assert result.predicted is None


def test_the_attack_meets_the_refusal_of_a_ledger(attack: str) -> None:
    result = stage(attack, n=32, against="jali", each="1/3", seed=1).run()
    assert (result.questions, result.spent) == (3, Fraction(1))
    assert result.refusal is not None


def test_the_attack_is_registered_by_a_line_of_the_form_that_the_stub_has() -> None:
    line = "from .correlation import Correlation as Correlation"
    assert line in PAGE
    stub = (Path(jali.lab.attacks.__file__).parent / "__init__.pyi").read_text()
    assert line.replace("correlation", "hadamard_attack").replace("Correlation", "Hadamard") in stub


def test_the_registration_line_is_of_the_form_that_the_stub_has() -> None:
    line = "from .additive.clamped_laplace import ClampedLaplace as ClampedLaplace"
    assert line in PAGE
    stub = (Path(jali.mechanisms.__file__).parent / "__init__.pyi").read_text()
    assert line.replace("clamped_laplace", "laplace_mechanism").replace("ClampedLaplace", "Laplace") in stub
