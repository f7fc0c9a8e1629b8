"""Whatever text is sent, only a `JaliError` comes back. Times are measured by `python -m benchmarks.hostile`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.depth import DEPTH
from tests.golden.catalog import Clinic, clinic
from tests.limits.hostile import FAMILIES, hostile_texts

import jali

COUNT = 10_000 if DEPTH >= 10 else 320 * DEPTH
# Every so many-th text is asked, too, and every other one put into a batch.
ASKED, BATCHED = 8, 11


@pytest.fixture(scope="module")
def place() -> Iterator[Clinic]:
    with clinic() as made:
        yield made


def test_only_refusals_come_back_from_hostile_texts(place: Clinic) -> None:
    answered = 0
    for number, (family, text) in enumerate(hostile_texts(COUNT)):
        refused = _refused(place.db, text, ask=number % ASKED == 0)
        # Whatever else stops planning is a refusal with a cause.
        assert refused is None or refused.__cause__ is None, (family, text, refused.__cause__)
        answered += refused is None
    assert COUNT / 10 < answered < COUNT / 2


def _refused(db: jali.Database, text: str, *, ask: bool) -> jali.JaliError | None:
    try:
        assert str(db.explain(text, epsilon=1))
        if ask:
            assert db.ask(text, epsilon="1e-6").columns
    except jali.JaliError as refused:
        return refused
    return None


def test_only_refusals_come_back_from_hostile_batches(place: Clinic) -> None:
    texts = [text for _, text in hostile_texts(COUNT // BATCHED, seed=1)]
    for first in range(0, len(texts), 3):
        refused = _batch_refused(place.db, texts[first : first + 3])
        assert refused is None or refused.__cause__ is None, (texts[first : first + 3], refused.__cause__)


def _batch_refused(db: jali.Database, texts: list[str]) -> jali.JaliError | None:
    batch = db.batch(epsilon=1)
    try:
        for text in texts:
            batch.ask(text)
        assert str(batch.explain())
    except jali.JaliError as refused:
        return refused
    return None


def test_the_same_texts_are_made_in_every_run() -> None:
    assert list(hostile_texts(200)) == list(hostile_texts(200))
    assert {name for name, _ in hostile_texts(len(FAMILIES))} == set(FAMILIES)
