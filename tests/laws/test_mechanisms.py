"""The laws that every mechanism keeps, on its own specimens."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import chi2
from tests.depth import DEPTH, thinned
from tests.laws.mechanisms import ABOVE_ZERO, LOSSES, SPECIMENS, at_loss, changed, loss_name, parameters
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.lab.audit.subjects.registration import AUDITED
from jali.mechanisms import Mechanism, Root, Sensitivity
from jali.mechanisms.base import Specimen
from jali.privacy import Adjacency

PROOFS = Path(__file__).parents[2] / "docs" / "proofs"
DRAWS = 20_000 * DEPTH
# Draws stop where both wrong losses are rejected: nothing is lost of the power against them. Deep runs go on.
PORTION = 4_000 if DEPTH == 1 else DRAWS
RELEASES = 400
FALSE_ALARM = 1e-8
CONFIDENCES = (0.5, 0.8, 0.95, 0.999)
NOT_NUMBERS = (math.nan, math.inf, "x", True)

specimens = pytest.mark.parametrize("specimen", SPECIMENS, ids=lambda s: s.name)
with_a_loss = pytest.mark.parametrize(
    "specimen", [s for s in SPECIMENS if loss_name(s.mechanism)], ids=lambda s: s.name
)
with_sensitivity = pytest.mark.parametrize(
    "specimen",
    [s for s in SPECIMENS if s.mechanism.loss_power and "sensitivity" in parameters(s.mechanism)],
    ids=lambda s: s.name,
)
mechanisms = pytest.mark.parametrize("mechanism", AUDITED, ids=lambda m: m.__name__)


@mechanisms
def test_the_docstring_states_guarantee_proof_error_and_example(mechanism: type[Mechanism]) -> None:
    text = inspect.getdoc(mechanism) or ""
    for section in ("Guarantee:", "Proof:", "Error:", "Example:"):
        assert section in text
    assert ">>> " in text.split("Example:")[1]
    page = text.split("docs/proofs/")[1].split(".md")[0] + ".md"
    assert (PROOFS / page).is_file(), f"{mechanism.__name__} has no proof page docs/proofs/{page}"
    file = Path(inspect.getfile(mechanism)).name
    assert file in (PROOFS / page).read_text(), f"docs/proofs/{page} does not name {file}"


@mechanisms
def test_a_mechanism_has_specimens_of_its_own_kind(mechanism: type[Mechanism]) -> None:
    cases = mechanism.specimens()
    assert cases
    assert all(type(case.mechanism) is mechanism and case.neighbours for case in cases)


@mechanisms
def test_parameters_are_keyword_only_and_kept_as_fields(mechanism: type[Mechanism]) -> None:
    arguments = inspect.signature(mechanism).parameters
    assert set(arguments) == {field.name for field in dataclasses.fields(mechanism)}  # type: ignore[arg-type]
    assert all(argument.kind is argument.KEYWORD_ONLY for argument in arguments.values())
    case = mechanism.specimens()[0].mechanism
    assert changed(case) == case
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.epsilon = 1  # type: ignore[attr-defined]


@thinned(4)
@specimens
def test_exact_masses_sum_to_one(specimen: Specimen) -> None:
    for value in {id(v): v for pair in specimen.neighbours for v in pair}.values():
        masses = specimen.mechanism.log_masses(value).values()
        assert math.fsum(map(math.exp, masses)) == pytest.approx(1, abs=1e-11)


@thinned(4)
@with_a_loss
def test_error_shrinks_as_the_loss_grows(specimen: Specimen) -> None:
    factors = (Fraction(1, 32), Fraction(1, 8), Fraction(1, 2), Fraction(1), Fraction(4))
    errors = [at_loss(specimen.mechanism, f).error(0.9, **specimen.shape) for f in factors]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[-1]


@thinned(4)
@with_a_loss
def test_the_loss_claimed_is_the_loss_given(specimen: Specimen) -> None:
    name = loss_name(specimen.mechanism)
    for factor in (Fraction(1, 3), Fraction(1), Fraction(2)):
        mechanism = at_loss(specimen.mechanism, factor)
        event = mechanism.loss.event
        extra = parameters(mechanism).get("epsilon_answers") or 0
        assert (event.rho if name == "rho" else event.epsilon) == getattr(mechanism, name or "") + extra
        assert event.delta == (parameters(mechanism).get("delta") or 0)


@thinned(4)
@with_sensitivity
def test_the_loss_grows_with_the_sensitivity_as_stated(specimen: Specimen) -> None:
    """Twice the sensitivity at twice the loss (four times for rho) is the same noise."""
    mechanism = specimen.mechanism
    power = mechanism.loss_power
    assert power is not None
    larger = changed(at_loss(mechanism, Fraction(2**power)), sensitivity=_twice(mechanism))
    one, other = mechanism.log_masses(specimen.value), larger.log_masses(specimen.value)
    for output in one.keys() & other.keys():
        assert one[output] == pytest.approx(other[output], rel=1e-9, abs=1e-12)
    assert math.fsum(math.exp(one[o]) for o in one.keys() & other.keys()) == pytest.approx(1, abs=1e-9)


def _twice(mechanism: Mechanism) -> Any:
    sensitivity: Fraction | Root | Sensitivity = parameters(mechanism)["sensitivity"]
    return sensitivity * 2


@thinned(3)
@specimens
def test_error_is_the_quantile_of_the_deviation_or_bounds_it(specimen: Specimen) -> None:
    mechanism = specimen.mechanism
    sizes = _sizes(specimen)
    for confidence in CONFIDENCES:
        wanted = _quantile(sizes, confidence)
        claimed = mechanism.error(confidence, **specimen.shape)
        assert float(claimed) >= wanted * (1 - 1e-9)
        if mechanism.error_is_exact:
            assert float(claimed) == pytest.approx(wanted, rel=1e-9)


def _sizes(specimen: Specimen) -> dict[float, list[float]]:
    """Return the exact masses of all outputs, by how far they are off."""
    mechanism, value = specimen.mechanism, specimen.value
    by_size: dict[float, list[float]] = {}
    for output, mass in mechanism.log_masses(value).items():
        by_size.setdefault(float(mechanism.deviation(value, output)), []).append(math.exp(mass))
    return by_size


def _quantile(by_size: dict[float, list[float]], confidence: float) -> float:
    """Return the least t with Pr[deviation <= t] >= confidence, by summing exact masses."""
    reached: list[float] = []
    for size in sorted(by_size):
        reached += by_size[size]
        if math.fsum(reached) >= confidence - 1e-12:
            return size
    raise AssertionError("the window of masses is too small")


@specimens
def test_a_confidence_outside_zero_and_one_is_refused(specimen: Specimen) -> None:
    for bad in (0, 1, -0.5, 1.5, math.nan):
        with pytest.raises(JaliError, match="confidence"):
            specimen.mechanism.error(bad, **specimen.shape)


@mechanisms
def test_bad_parameters_are_refused_by_name(mechanism: type[Mechanism]) -> None:
    for case in (specimen.mechanism for specimen in mechanism.specimens()):
        for name, value in parameters(case).items():
            for bad in _bad_values(name, value):
                with pytest.raises(JaliError, match=rf"\b{name}\b"):
                    changed(case, **{name: bad})


def _bad_values(name: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, Adjacency) or name == "adjacency":
        return ("add", 3)
    if isinstance(value, bool | str) or (value is None and name != "step"):
        return ()
    if isinstance(value, tuple):
        return (*NOT_NUMBERS, ())
    strict = (0, -1) if name in ABOVE_ZERO else ()
    return (*NOT_NUMBERS, *strict, *((1.5,) if isinstance(value, int) else ()))


@mechanisms
def test_a_mechanism_without_its_loss_or_sensitivity_cannot_be_made(mechanism: type[Mechanism]) -> None:
    given = parameters(mechanism.specimens()[0].mechanism)
    needed = [n for n in ("sensitivity", *LOSSES) if given.get(n) is not None]
    for name in needed:
        rest = {key: value for key, value in given.items() if key != name}
        with pytest.raises((JaliError, TypeError), match=name):
            mechanism(**rest)


@thinned(4)
@with_a_loss
def test_releases_have_the_law_they_claim_and_not_that_of_another_loss(specimen: Specimen) -> None:
    """Chi-square at a false-alarm rate of 1e-8 for each portion; losses off by 30 % are rejected."""
    mechanism, bits = specimen.mechanism, SeededBits(20_261_116)
    masses = mechanism.log_masses(specimen.value)
    wrong = [at_loss(mechanism, Fraction(tenths, 10)).log_masses(specimen.value) for tenths in (7, 13)]
    outcomes: Counter[Any] = Counter()
    rejected = False
    while not rejected and outcomes.total() < DRAWS:
        outcomes.update(mechanism.sample(specimen.value, PORTION, bits=bits))
        # A window leaves out less than 1e-11 of the law: no draw lies there.
        assert outcomes.keys() <= masses.keys()
        assert _p_value(outcomes, masses) > FALSE_ALARM
        rejected = all(_p_value(outcomes, law) < FALSE_ALARM for law in wrong)
    assert rejected


@thinned(4)
@pytest.mark.parametrize(
    "specimen", [s for s in SPECIMENS if s.mechanism.loss.event.delta == 0], ids=lambda s: s.name
)
def test_no_output_is_out_of_reach_of_a_neighbour(specimen: Specimen) -> None:
    """Reachability: every release on one input is a possible release on its neighbour, where delta is 0."""
    one, other = specimen.neighbours[0]
    masses = specimen.mechanism.log_masses(other)
    outside = [o for o in specimen.mechanism.sample(one, 2000, bits=SeededBits(3)) if o not in masses]
    assert not outside


@thinned(4)
@specimens
def test_single_releases_have_the_law_too(specimen: Specimen) -> None:
    """`sample` may be vectorised: a few hundred plain releases must follow the same law.

    The mean of -log(mass) is the law's entropy within seven deviations. For Laplace noise it moves by one
    deviation of a draw where the noise is twice as large: 160 draws tell that better than 400 by cells alone.
    """
    mechanism, bits = specimen.mechanism, SeededBits(7)
    masses = mechanism.log_masses(specimen.value)
    releases = (mechanism.release(specimen.value, bits=bits) for _ in range(_enough(masses)))
    outcomes = Counter(map(mechanism.outcome, releases))
    assert outcomes.keys() <= masses.keys()
    assert _p_value(outcomes, masses) > FALSE_ALARM
    entropy, variance = _surprise(masses)
    found = -math.fsum(count * masses[output] for output, count in outcomes.items()) / outcomes.total()
    assert abs(found - entropy) <= 7 * math.sqrt(variance / outcomes.total()) + 1e-9


def _enough(log_masses: Any) -> int:
    """Return how many releases reject one without noise.

    The likeliest output, of mass p, again and again has the statistic n (1 - p) / p.
    """
    if DEPTH > 1:
        return RELEASES
    likeliest = math.exp(max(log_masses.values()))
    cells = sum(mass > math.log(10 / RELEASES) for mass in log_masses.values())
    needed = chi2.isf(FALSE_ALARM, max(cells, 1)) * likeliest / (1 - likeliest)
    return max(160, min(RELEASES, math.ceil(float(needed))))


def _surprise(log_masses: Any) -> tuple[float, float]:
    """Return mean and variance of -log(mass) of one draw."""
    pairs = [(math.exp(mass), -mass) for mass in log_masses.values()]
    entropy = math.fsum(p * s for p, s in pairs)
    return entropy, math.fsum(p * (s - entropy) ** 2 for p, s in pairs)


def _p_value(outcomes: Counter[Any], log_masses: Any) -> float:
    total = outcomes.total()
    cells = {output: total * math.exp(mass) for output, mass in log_masses.items()}
    common = [output for output, expected in cells.items() if expected >= 10]
    statistic = math.fsum((outcomes[o] - cells[o]) ** 2 / cells[o] for o in common)
    rare = total - math.fsum(cells[o] for o in common)
    seen = total - sum(outcomes[o] for o in common)
    statistic += (seen - rare) ** 2 / max(rare, 1.0)
    return float(chi2.sf(statistic, max(len(common), 1)))
