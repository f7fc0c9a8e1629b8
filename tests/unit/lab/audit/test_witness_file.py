"""Witnesses in files: everything round-trips, and a replay counts the event on outputs nobody has seen."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from jali.errors import CatalogError
from jali.lab.audit import Audit, Effort, Finding, Subject, Verdict, Witness
from jali.lab.audit.encoder import Encoder, Slot
from jali.lab.audit.events.output_event import Threshold
from jali.lab.audit.subject import Outputs, abbreviate
from jali.lab.audit.subject_loader import subject_from
from jali.lab.audit.testers.output_shape import OutputShape
from jali.lab.audit.witness_file import EVENTS, WitnessFile, read, to_document, write
from jali.privacy import Adjacency, Approximate, Concentrated, Loss, Pure, Renyi


def test_long_values_are_cut_for_people_only() -> None:
    assert abbreviate([0] * 1000).endswith(", 0…")
    assert abbreviate(10**5000) == "a very long int"


def noisy(value: float, count: int, random: np.random.Generator | None) -> Outputs:
    assert random is not None
    return value + random.laplace(0, 1, (count, 1))


SUBJECT = Subject("noisy", Pure("1/2"), Adjacency.ADD_REMOVE, ((0, 1), (1, 0)), noisy)
EVENT = Threshold(0, 1.0)


def found(
    subject: Subject = SUBJECT, *, event: Threshold | None = EVENT, inputs: tuple[Any, Any] = (1, 0)
) -> Audit:
    witness = Witness(inputs, event=event, hits=(5000, 1839), runs=(10_000, 10_000))
    finding = Finding(
        "noisy", "add-remove", "epsilon", 0.5, 0.93, witness, Verdict.VIOLATION, "pairwise", 0.99, 50_000
    )
    return Audit(subject, (finding,), Effort(50_000, seed=7), 1.0)


def kept(tmp_path: Path, audit: Audit) -> Any:
    write(audit, tmp_path / "witness.json")
    return read(tmp_path / "witness.json")


def test_a_file_tells_what_was_found(tmp_path: Path) -> None:
    file = kept(tmp_path, found())
    before = file.finding(SUBJECT)
    assert before == found().findings[0].__class__(
        **(found().findings[0].__dict__ | {"witness": before.witness, "confidence": 0.99})
    )
    assert before.witness.event == EVENT
    assert (before.witness.hits, before.witness.runs) == ((5000, 1839), (10_000, 10_000))
    assert set(file.held["versions"]) == {"jali", "python", "numpy"}
    assert file.held["seed"] == 7


def test_a_replay_counts_the_event_anew_and_bounds_the_loss(tmp_path: Path) -> None:
    # Pr[1 + L >= 1] = 1/2 and Pr[L >= 1] = 1/(2e): the loss of the event is 1.
    made = kept(tmp_path, found()).replay(SUBJECT, samples=40_000)
    assert made.reproduces
    hits, runs = made.finding.witness.hits, made.finding.witness.runs
    assert sum(runs) == 40_000
    for hit, run, chance in zip(hits, runs, (0.5, 0.5 / math.e), strict=True):
        assert stats.binomtest(hit, run, chance).pvalue > 1e-9
    assert 0.5 < made.finding.found < 1.0
    assert made.finding.verdict is Verdict.VIOLATION
    assert "reproduces  yes" in str(made)


def test_a_replay_is_made_again_by_its_seed_and_not_by_that_of_the_search(tmp_path: Path) -> None:
    file = kept(tmp_path, found())
    once, same, other = (file.replay(SUBJECT, seed=seed).finding.witness.hits for seed in (None, 7, 8))
    assert once == same != other
    # The first outputs of the seed itself are those that a search sees.
    random = np.random.default_rng(7)
    first = int(random.binomial(20_000, 0.5))
    assert int(EVENT.contains(noisy(1, first, random)).sum()) != once[0]


def test_an_honest_subject_does_not_reproduce_a_violation(tmp_path: Path) -> None:
    def honest(value: float, count: int, random: np.random.Generator | None) -> Outputs:
        assert random is not None
        return value + random.laplace(0, 2, (count, 1))

    other = Subject("noisy", Pure("1/2"), Adjacency.ADD_REMOVE, ((0, 1),), honest)
    made = kept(tmp_path, found()).replay(other)
    assert not made.reproduces
    assert made.finding.verdict is Verdict.NOTHING_FOUND
    assert made.to_dict()["reproduces"] is False


def test_an_exact_witness_is_computed_again(tmp_path: Path) -> None:
    def law(value: int) -> dict[int, float]:
        one = math.log(0.75 if value else 0.25)
        return {1: one, 0: math.log1p(-math.exp(one))}

    coin = Subject("coin", Pure(1), Adjacency.REPLACE_ONE, ((0, 1),), noisy, log_masses=law)
    audit = found(coin, event=None, inputs=(0, 1))
    stage = Finding("coin", "replace-one", "epsilon", 1.0, 1.09, Witness((0, 1), at=1), Verdict.VIOLATION)
    made = kept(tmp_path, Audit(coin, (stage,), audit.effort, 0.1)).replay(coin)
    assert made.finding.found == pytest.approx(math.log(3))
    assert made.reproduces


class Opaque:
    """An input that JSON has no form for."""


def test_inputs_without_a_form_are_named_by_their_place_where_the_subject_is_registered(tmp_path: Path) -> None:
    pair = (Opaque(), Opaque())
    registered = Subject("thing", Pure(1), Adjacency.ADD_REMOVE, ((0, 1), pair), noisy, "thing")
    file = kept(tmp_path, found(registered, inputs=(pair[1], pair[0])))
    assert file.finding(registered).witness.inputs == (pair[1], pair[0])
    own = Subject("thing", Pure(1), Adjacency.ADD_REMOVE, (pair,), noisy, "module:thing")
    with pytest.raises(CatalogError, match="cannot hold a Opaque"):
        to_document(found(own, inputs=pair))


@pytest.mark.parametrize("claim", [Pure("1/3"), Approximate(2, "1e-5"), Concentrated("0.1")])
def test_the_function_of_a_file_is_made_a_subject_again_with_its_claim(tmp_path: Path, claim: Loss) -> None:
    (tmp_path / "noise.py").write_text(
        "def noisy(value, size, rng):\n    return value + rng.laplace(0, 1, size)\n", encoding="utf-8"
    )
    source = f"{tmp_path / 'noise.py'}:noisy"
    subject = Subject("noisy", claim, Adjacency.ADD_REMOVE, ((0, 1),), noisy, source)
    made = kept(tmp_path, found(subject)).subject()
    assert (made.claim, made.adjacency, made.pairs, made.source) == (
        claim,
        Adjacency.ADD_REMOVE,
        ((1, 0),),
        source,
    )
    assert made.draw(5, 3, np.random.default_rng(1)).shape[0] == 3


def test_a_claim_that_is_a_curve_is_replayed_from_python_only(tmp_path: Path) -> None:
    curve = Subject("noisy", Renyi({2: 1}), Adjacency.ADD_REMOVE, ((0, 1),), noisy, "module:noisy")
    file = kept(tmp_path, found(curve))
    with pytest.raises(CatalogError, match="cannot be read from a file"):
        file.subject()
    assert file.replay(SUBJECT, samples=1000).finding.samples == 1000


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "jali witness 2"}', '{"format": "jali witness 9"}'])
def test_a_file_that_holds_no_witness_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CatalogError, match=r"is not a witness file|has the unknown witness format"):
        read(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("steps", 0),
        ("steps", True),
        ("hits", [1]),
        ("hits", [10_001, 0]),
        ("runs", [-1, 5]),
        ("inputs", [1]),
        ("confidence", "2"),
        ("confidence", "much"),
        ("verdict", "perhaps"),
        ("adjacency", "near"),
        ("seed", -1),
        ("samples", -1),
        ("claim", {}),
        ("claim", {"epsilon": "-1"}),
        ("event", {"kind": "moon"}),
        ("encoder", "{}"),
        ("data", "moons:5"),
    ],
)
def test_a_field_that_cannot_be_is_refused_by_its_name(tmp_path: Path, field: str, value: Any) -> None:
    held = {**to_document(found()), field: value}
    (tmp_path / "witness.json").write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(CatalogError, match=f"{field}|than runs"):
        read(tmp_path / "witness.json")


LAPLACE = """
import numpy as np
from jali.lab.audit import subject_of

def honest(value, size, rng):
    return np.floor(value + rng.laplace(0, 2, size))

def telling(value, rng):
    if value and rng.random() < 0.01:
        return None
    return round(value + rng.laplace(0, 1))

ready = subject_of(telling, epsilon=1, adjacency="add-remove", pairs=[(0, 1)])
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "laplace.py").write_text(LAPLACE, encoding="utf-8")
    return tmp_path / "laplace.py"


def test_inputs_that_are_no_neighbours_of_the_pattern_are_refused(tmp_path: Path, module: Path) -> None:
    """The honest function, given 0 and 40, shows more than it claims."""
    source = f"{module}:honest"
    subject = subject_from(source, claim=Pure("1/2"), adjacency="add-remove", data="scalar")
    held = to_document(found(subject))
    assert held["data"] == "scalar"
    assert WitnessFile(held).replay(samples=2000).finding.verdict is Verdict.NOTHING_FOUND
    for inputs, steps in (([40, 0], 1), ([40, 0], 39)):
        with pytest.raises(CatalogError, match=r"40 and 0 are not .*neighbours"):
            WitnessFile({**held, "inputs": inputs, "steps": steps}).replay(samples=2000)
    assert WitnessFile({**held, "inputs": [40, 0], "steps": 40}).replay(samples=2000).finding.found <= 0.5


def test_inputs_that_a_subject_has_not_are_refused(module: Path) -> None:
    held = to_document(found(subject_from(f"{module}:ready"), inputs=(1, 0)))
    WitnessFile(held).replay(samples=500)
    with pytest.raises(CatalogError, match="among the pairs of its subject"):
        WitnessFile({**held, "inputs": [1, 5]}).replay(samples=500)


def test_the_subject_of_a_file_is_replayed_with_the_encoder_of_the_witness(module: Path) -> None:
    subject = subject_from(f"{module}:ready")
    plain = Encoder.fit([1, 2])
    held = to_document(found(subject)) | {"encoder": str(plain)}
    again = WitnessFile(held).subject()
    assert again.encoder == plain
    assert again.draw(1, 5, np.random.default_rng(1)).shape == (5, plain.width)


def test_an_event_about_numbers_that_are_not_there_is_refused() -> None:
    held = to_document(found(event=Threshold(7, 1.0)))
    with pytest.raises(CatalogError, match="numbers that the outputs do not have"):
        WitnessFile(held).replay(SUBJECT, samples=100)


def test_a_shape_is_tried_again_on_outputs_that_nobody_has_seen() -> None:
    seen: list[float] = []

    def draw(_: Any, count: int, random: np.random.Generator | None) -> Outputs:
        assert random is not None
        made = np.asarray(random.random((count, 1)))
        seen.append(float(made[0, 0]))
        return np.asarray(made < 0.9, np.float64)

    fair = {0.0: math.log(0.5), 1.0: math.log(0.5)}
    coin = Subject("coin", Pure(1), Adjacency.REPLACE_ONE, ((0, 1),), draw, log_masses=lambda _: fair)
    made = OutputShape().audit(coin, Effort(1000, seed=3))
    file = WitnessFile(json.loads(json.dumps(to_document(Audit(coin, (made,), Effort(1000, seed=3), 0.1)))))
    assert file.replay(coin).reproduces
    assert len(set(seen)) == len(seen) == 4


def test_a_witness_of_nothing_says_that_there_was_nothing_to_reproduce(tmp_path: Path) -> None:
    audit = found()
    nothing = replace(audit.findings[0], verdict=Verdict.NOTHING_FOUND)
    made = kept(tmp_path, replace(audit, findings=(nothing,))).replay(SUBJECT, samples=40_000)
    assert made.reproduces is None
    assert "there was no violation to reproduce, and there is one now" in str(made)
    assert made.to_dict()["reproduces"] is None


def test_a_file_that_is_not_there_or_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"There is no file .*nothing\.json"):
        read(tmp_path / "nothing.json")
    with pytest.raises(CatalogError, match="cannot be written"):
        write(found(), tmp_path / "nowhere" / "witness.json")


def test_confidence_is_kept_exactly(tmp_path: Path) -> None:
    assert Fraction(kept(tmp_path, found()).held["confidence"]) == Fraction(99, 100)


def test_a_file_of_version_2_is_read() -> None:
    file = read(Path(__file__).parents[3] / "fixtures" / "v0_2" / "witness.json")
    before = file.finding(SUBJECT)
    assert before.witness.inputs[0] == (1, Fraction(1, 3), math.inf)
    row, array = before.witness.inputs[1]
    assert row == {"age": 30, "ward": b"\x00"}
    np.testing.assert_array_equal(array, np.array([[1.5, -2.0]]))
    assert before.witness.event == EVENT
    assert (before.claimed, before.found) == (0.5, 0.93)
    assert file.held["format"] == "jali witness 3"


# What files of witnesses call the parts of events and of encoders: a field that is renamed needs a new version.
PARTS = {
    "threshold": ["column", "at", "above"],
    "between": ["column", "low", "high"],
    "atom": ["rows"],
    "score": ["parts", "at"],
    "low bits": ["column", "exponent", "below"],
    "out of reach": ["column", "value", "scale"],
    "outcome": ["column", "code", "name"],
}


def test_events_and_encoders_are_written_under_the_names_that_files_have() -> None:
    assert {kind.kind: [part.name for part in fields(kind)] for kind in EVENTS} == PARTS  # type: ignore[arg-type]
    assert [part.name for part in fields(Slot)] == ["place", "kind", "form", "number", "remainder", "text"]
