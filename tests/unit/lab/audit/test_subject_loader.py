"""Anybody's function as a subject: found by its name, called as it wants, refused in plain words."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jali.errors import CatalogError
from jali.lab.audit.encoder import Encoder
from jali.lab.audit.subject import Subject
from jali.lab.audit.subject_loader import build_claim, import_target, subject_from, subject_of
from jali.mechanisms import Laplace
from jali.privacy import Adjacency, Approximate, Concentrated, Pure

SEED = 20_261_016
MODULE = """
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
import jali.lab.audit.subject_loader as loading
from jali.lab.audit.subject import Subject

def noisy(value: float, rng: np.random.Generator, epsilon: float) -> float:
    return value + rng.laplace(0, 1 / epsilon)

def many(value, size, rng):
    return value + rng.laplace(0, 1, size)

def total(data):
    return sum(data)

@dataclass
class Adds:
    epsilon: float
    def release(self, value):
        return value + self.epsilon

made = Adds(0.5)
ready = loading.subject_of(noisy, epsilon=1, adjacency="add-remove", data="scalar", name="ready")

def makes() -> Subject:
    return ready

number = 3
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a working directory with a module of a user's, which is forgotten afterwards."""
    (tmp_path / "audited_module.py").write_text(MODULE)
    (tmp_path / "broken_module.py").write_text("raise RuntimeError('no data')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "audited_module", raising=False)
    return tmp_path


def _random() -> np.random.Generator:
    return np.random.default_rng(SEED)


@pytest.mark.parametrize("target", ["audited_module:noisy", "audited_module.py:noisy"])
@pytest.mark.usefixtures("place")
def test_a_function_is_found_by_module_or_file_and_given_claim_and_generator(target: str) -> None:
    before = list(sys.path)
    subject = subject_from(target, claim=Pure("0.5"), adjacency="replace-one", data="scalar")
    rows = subject.draw(10, 1000, _random())
    again = _random()
    assert rows[:, 0].tolist() == [10 + again.laplace(0, 2) for _ in range(1000)]
    assert (subject.source, subject.adjacency) == (target, Adjacency.REPLACE_ONE)
    assert subject.name == f"{target}, scalar"
    assert sys.path == before


def test_a_file_elsewhere_is_found_too(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = place / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    subject = subject_from("../audited_module.py:many", claim=Pure(1), adjacency="add-remove", data="scalar")
    assert subject.draw(0, 7, _random())[:, 0].tolist() == _random().laplace(0, 1, 7).tolist()


@pytest.mark.usefixtures("place")
def test_objects_and_classes_with_a_release_are_called_by_it() -> None:
    for target in ("audited_module:made", "audited_module:Adds", "audited_module:made.release"):
        subject = subject_from(target, claim=Pure("0.5"), adjacency="add-remove", data="scalar")
        assert subject.draw(2, 3, None)[:, 0].tolist() == [2.5] * 3


@pytest.mark.parametrize("target", ["audited_module:ready", "audited_module:makes"])
@pytest.mark.usefixtures("place")
def test_a_subject_made_by_the_user_is_taken_as_it_is(target: str) -> None:
    subject = subject_from(target)
    assert (subject.name, subject.source, subject.claim) == ("ready, scalar", target, Pure(1))
    assert subject_from(target, claim=Pure(2), adjacency="replace-one").adjacency is Adjacency.REPLACE_ONE


@pytest.mark.usefixtures("place")
def test_without_a_pattern_the_first_that_runs_is_taken() -> None:
    subject = subject_from("audited_module:total", claim=Pure(1), adjacency="add-remove")
    assert subject.name == "audited_module:total, values:10 in 0..1"
    subject = subject_from("audited_module:noisy", claim=Pure(1), adjacency="add-remove")
    assert subject.name == "audited_module:noisy, scalar"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("noisy", "does not name a function"),
        (":noisy", "does not name a function"),
        ("no_such_module_here:noisy", "could not be imported"),
        ("no_such_file.py:noisy", "no file no_such_file.py"),
        ("broken_module:noisy", "RuntimeError: no data"),
        ("broken_module.py:noisy", "RuntimeError: no data"),
        ("audited_module:nosy", "Did you mean audited_module:noisy"),
        ("audited_module:number", "cannot be called"),
    ],
)
@pytest.mark.usefixtures("place")
def test_what_cannot_be_found_is_named_with_a_remedy(target: str, said: str) -> None:
    with pytest.raises(CatalogError, match=said) as refusal:
        subject_from(target, claim=Pure(1), adjacency="add-remove")
    assert refusal.value.remedy
    assert "broken_module" not in sys.modules


def _subject(function: Callable[..., Any], **given: Any) -> Subject:
    return subject_of(function, **{"epsilon": 1, "adjacency": "add-remove", "pairs": [(0, 1)], **given})


def test_a_run_that_raises_is_an_output_and_one_that_always_does_is_refused() -> None:
    def sometimes(value: float) -> float:
        if value:
            raise ZeroDivisionError
        return 0.5

    subject = _subject(sometimes)
    assert subject.encoder is not None
    kinds = subject.encoder.columns.index("kind of the output")
    assert subject.draw(0, 2, None)[0, kinds] != subject.draw(1, 2, None)[0, kinds]

    def always(value: float) -> float:
        raise ZeroDivisionError(f"not {value}")

    with pytest.raises(CatalogError, match=r"raises on every input \(ZeroDivisionError: not 0"):
        _subject(always)


def test_an_input_that_a_function_changes_is_whole_again_for_the_next_run() -> None:
    def empties(data: Any) -> int:
        length = len(data)
        data.clear()
        return length

    for value in ([1, 2], [[1], [2]], {"a": 1, "b": 2}):
        assert _subject(empties, pairs=[(value, value)]).draw(value, 3, None)[:, 0].tolist() == [2.0] * 3


def test_generators_are_given_by_name_or_by_annotation() -> None:
    def of_python(value: float, source: random.Random) -> float:
        return value + source.random()

    def of_numpy(value: float, source: np.random.Generator) -> float:
        return value + source.random()

    def named(value: float, generator: Any = None) -> float:
        return value + float(generator.random())

    for function in (of_python, of_numpy, named):
        subject = _subject(function)
        one, same, other = (subject.draw(0, 5, np.random.default_rng(seed)).tolist() for seed in (1, 1, 2))
        assert one == same != other
    assert len(set(_subject(of_numpy).draw(0, 5, None)[:, 0])) == 5


def test_functions_of_many_outputs_are_known_by_their_parameters() -> None:
    def counted(value: float, count: int) -> list[float]:
        return [value] * count

    def sized(value: float, n: int) -> list[float]:
        return [value] * n

    def settled(value: float, n: int = 3) -> float:
        return value * n

    def wrong(value: float, size: int) -> float:
        return value * size

    assert _subject(counted).draw(2, 3, None)[:, 0].tolist() == [2.0] * 3
    assert _subject(sized).draw(2, 3, None)[:, 0].tolist() == [2.0] * 3
    assert _subject(settled).draw(2, 3, None)[:, 0].tolist() == [6.0] * 3
    with pytest.raises(CatalogError, match="did not return the requested 1 output"):
        _subject(wrong)
    with pytest.raises(CatalogError, match="needs 'size'"):
        _subject(wrong, vectorised=False)
    with pytest.raises(CatalogError, match="A vectorised function needs a parameter for the number of outputs"):
        _subject(settled, vectorised=True)


def test_more_outputs_than_one_batch_come_in_order() -> None:
    numbers = iter(range(10**6))
    subject = _subject(lambda _: float(next(numbers)), encoder=Encoder.fit([0.5]))
    rows = subject.draw(0, 70_000, None)[:, 0]
    assert rows.tolist() == [float(x) for x in range(70_000)]


def test_a_mechanism_of_jali_brings_its_claim() -> None:
    mechanism = Laplace(sensitivity=1, epsilon=Fraction(1, 2))
    subject = subject_of(mechanism, adjacency="add-remove", data="scalar")
    assert subject.claim == mechanism.loss
    rows = subject.draw(0, 2000, None)
    # Two standard deviations are 5.7: with 2,000 draws the mean of their sizes is 2 up to 0.5, all but 1e-20.
    assert rows.shape == (2000, 3)
    assert not rows[:, 1:].any()
    assert 1.5 < np.abs(rows[:, 0]).mean() < 2.5


def test_claims_of_every_kind_are_understood() -> None:
    assert build_claim(epsilon="0.7") == Pure("0.7")
    assert build_claim(epsilon=1, delta="1e-6") == Approximate(1, "1e-6")
    assert build_claim(rho="0.1") == Concentrated("0.1")
    assert build_claim(loss=Pure(2)) == Pure(2)
    for wrong in ({}, {"epsilon": 1, "rho": 1}, {"delta": 0.1}, {"rho": 1, "delta": 0.1}):
        with pytest.raises(CatalogError, match="A claim must be epsilon, epsilon and delta, rho, or loss"):
            build_claim(**wrong)


def test_what_an_audit_cannot_give_is_refused() -> None:
    with pytest.raises(CatalogError, match="needs 'bounds'"):
        _subject(lambda data, bounds: 0)
    with pytest.raises(CatalogError, match="takes no data"):
        _subject(lambda *, data: 0)
    with pytest.raises(CatalogError, match="takes no data"):
        _subject(lambda: 0)
    with pytest.raises(CatalogError, match="adjacency is missing"):
        _subject(lambda data: 0, adjacency=None)
    with pytest.raises(CatalogError, match="pairs"):
        _subject(lambda data: 0, pairs=[])
    with pytest.raises(CatalogError, match="No data pattern fits the function"):
        subject_of(_never, epsilon=1, adjacency="add-remove")


def _never(data: Any) -> float:
    raise TypeError(data)


def test_an_encoder_from_a_witness_is_used_as_it_is() -> None:
    kept = Encoder.fit([0.5, None])
    subject = _subject(lambda data: 0.5, encoder=str(kept))
    assert subject.encoder == kept
    assert subject.draw(0, 1, None).shape == (1, kept.width)


def test_what_is_imported_may_lie_in_another_thing() -> None:
    assert import_target("math:pi") == pytest.approx(3.14159, abs=1e-5)
    assert import_target("fractions:Fraction.from_float") == Fraction.from_float
