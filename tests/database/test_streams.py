"""Durable streams as the curator and the analysts see them."""

from __future__ import annotations

import json
import re
import sqlite3
import stat
import traceback
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH
from tests.parquet import write_parquet

import jali
from jali.errors import BudgetExceeded, CatalogError, JaliError, LedgerError, QueryError
from jali.execution.streams.durable_streams import DurableStreams
from jali.execution.streams.stream_declaration import read_stream_declaration
from jali.execution.streams.stream_measures import StreamSum
from jali.ledger.streams import StreamTables
from jali.privacy import Filter, Pure
from jali.stream import Appended, Stream
from jali.streams import Counter, Item, Participation, buffered_toeplitz, doubling, epoch_sensitivity

# At this loss every noise is 0: another number has a probability below 1e-100, so that values are exact.
PLENTY = jali.Budget(epsilon=10**9)
COUNT: dict[str, Any] = {"unit": "patient", "horizon": 40, "budget": PLENTY, "mechanism": "every-item"}


@pytest.fixture(params=["file", "memory"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[jali.Database]:
    """A database whose ledger is sound at the end of every test."""
    with jali.connect(tmp_path / "clinic.jali" if request.param == "file" else None) as made:
        yield made
        assert made.verify().problems == ()


def counted(db: jali.Database, **said: Any) -> Stream:
    return db.stream("admissions", **{**COUNT, **said})


def items(*names: str) -> list[dict[str, Any]]:
    """Read items written as owner.item, or owner.item.key."""
    return [dict(zip(("owner", "item", "key"), name.split("."), strict=False)) for name in names]


# What is published.


def test_a_stream_publishes_how_many_items_there_were_so_far_under_each_key(db: jali.Database) -> None:
    stream = counted(db, keys=["A", "B"])
    assert stream.append(items("ana.1.A", "ben.1.A", "cai.1.B")) == Appended(new=3, known=0, dropped=0)
    assert stream.publish().values == {"A": 2, "B": 1}
    assert stream.append(items("dan.1.B")) == Appended(new=1, known=0, dropped=0)
    assert stream.publish().values == {"A": 2, "B": 2}
    assert [tick.values for tick in stream.ticks()] == [{"A": 2, "B": 1}, {"A": 2, "B": 2}]


def test_an_item_counts_once_however_often_it_is_sent(db: jali.Database) -> None:
    stream = counted(db)
    stream.append(items("ana.1", "ben.1"))
    assert stream.append(items("ana.1", "cai.1")) == Appended(new=1, known=1, dropped=0)
    stream.publish()
    assert stream.append(items("ana.1", "ben.1")) == Appended(new=0, known=2, dropped=0)
    assert stream.publish().values == {None: 3}


def test_the_same_key_of_two_owners_is_two_items_and_7_is_the_text_7(db: jali.Database) -> None:
    stream = counted(db)
    assert stream.append([Item(7, owner="ana"), Item(7, owner="ben"), Item("7", owner="ana")]).new == 2
    assert stream.append([Item(np.int64(7), owner="ana"), Item(7.0, owner="ben")]).known == 2  # type: ignore[arg-type]


def test_publishing_a_tick_again_gives_what_was_published(db: jali.Database) -> None:
    stream = counted(db, budget=jali.Budget(epsilon=1), mechanism="binary-tree")
    stream.append(items("ana.1"))
    first = stream.publish(1)
    stream.append(items("ben.1"))
    stream.publish(2)
    assert stream.publish(1) == first == stream.value(1)
    assert stream.publish(2) == stream.value() == stream.value(2)
    assert stream.published == len(stream) == 2


def test_ticks_that_are_passed_over_are_empty(db: jali.Database) -> None:
    stream = counted(db)
    stream.append(items("ana.1", "ben.1"))
    assert stream.publish(5).number == 5
    assert [tick.values[None] for tick in stream.ticks()] == [2] * 5
    assert stream.open_tick == 6


def test_many_ticks_are_published_at_once_in_several_transactions(db: jali.Database) -> None:
    stream = counted(db, horizon=2000)
    stream.append(items("ana.1"))
    assert stream.publish(1500).values == {None: 1}
    assert [tick.number for tick in stream.ticks()] == list(range(1, 1501))


def test_a_clock_names_ticks_and_says_which_have_ended(db: jali.Database) -> None:
    stream = counted(db, every="day", start="2026-01-30")
    assert stream.publish(until="2026-02-02").number == 3
    assert [tick.label for tick in stream.ticks()] == ["2026-01-30", "2026-01-31", "2026-02-01"]
    assert stream.publish(until="2026-01-31 23:59:59").number == 1
    assert stream.published == 3
    with pytest.raises(QueryError, match="ended"):
        stream.publish(until="2026-01-30")


def test_a_time_that_must_be_mistyped_closes_no_tick(db: jali.Database) -> None:
    stream = counted(db, every="day", start="2026-01-01")
    for beyond in ("2026-02-12", "2027-01-15"):
        with pytest.raises(QueryError, match="beyond the horizon") as refused:
            stream.publish(until=beyond)
        assert "2026-02-10" in str(refused.value.remedy)
    assert stream.published == 0
    assert stream.publish(until="2026-02-11").number == 40
    endless = db.stream("endless", unit=None, horizon=None, budget=PLENTY, every="hour", start="2026-01-01 00:00")
    with pytest.raises(QueryError, match="1,577,832 more ticks"):
        endless.publish(until="2206-01-01")
    with pytest.raises(QueryError, match="10,001 more ticks") as refused:
        endless.publish(until="2027-02-21 17:00")
    assert "publish(10001)" in str(refused.value.remedy)
    assert endless.published == 0
    assert endless.publish(until="2026-01-02").number == 24


def test_months_have_their_own_lengths(db: jali.Database) -> None:
    stream = counted(db, every="month", start="2026-11-01")
    assert stream.publish(until="2027-03-31").label == "2027-02-01"


def test_sums_are_clamped_and_exact_on_their_lattice(db: jali.Database) -> None:
    stream = db.stream(
        "spent",
        unit="p",
        horizon=3,
        budget=PLENTY,
        measure="sum",
        value=jali.Range(-2, 100),
        mechanism="every-item",
    )
    values = [3.25, 1e300, -50, Fraction(1, 2), np.float32(0.75), 10**400]
    stream.append([Item(i, owner=i, value=value) for i, value in enumerate(values)])
    assert stream.publish().values == {None: 3.25 + 100 - 2 + 0.5 + 0.75 + 100}


def test_what_an_item_holds_is_never_refused(db: jali.Database) -> None:
    """A refusal would tell of one person, and keep the others out."""

    class Hostile:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise ValueError("seen")

    stream = db.stream(
        "spent",
        unit="p",
        horizon=3,
        budget=PLENTY,
        measure="sum",
        value=jali.Range(0, 8),
        keys=[1, 2],
        mechanism="every-item",
    )
    odd = [None, float("nan"), float("inf"), "3", b"3", True, [], {}, object(), Hostile(), 1j, "\ud800", ""]
    sent = [Item(f"value {i}", owner=i, key=1, value=value) for i, value in enumerate(odd)]
    sent += [Item(f"key {i}", owner=i, key=key, value=1) for i, key in enumerate(odd)]
    sent += [Item(f"owner {i}", owner=owner, key=1, value=1) for i, owner in enumerate(odd)]  # type: ignore[arg-type]
    sent += [Item(item, owner="ana", key=1, value=1) for item in odd]  # type: ignore[arg-type]
    counted = stream.append([*sent, Item("last", owner="zoe", key=2, value=8)])
    assert counted.new + counted.dropped + counted.known + counted.unreadable == len(sent) + 1
    # The owner "3" has a name; so has the item "3" of ana, whose other items are dropped or nameless.
    assert stream.publish().values == {1: 2, 2: 8}


def test_texts_that_cannot_be_written_down_are_nobodys_name(db: jali.Database) -> None:
    """Each way to write them down is the name of somebody else, whose items they would crowd out."""
    stream = counted(db, keys=["A", "B"])
    theirs = [Item("b", owner=name, key="A") for name in ("\\udc80", "?", "\ufffd", "\u00ed\u00b2\u0080")]
    own = [Item("a", owner="\udc80", key="B"), Item("\udc80", owner="ana", key="B")]
    assert stream.append([*own, *theirs]) == Appended(new=4, known=0, dropped=0, unreadable=2)
    assert stream.publish().values == {"A": 4, "B": 0}


def test_a_mapping_that_is_no_item_changes_nothing_and_keeps_no_other_out(db: jali.Database) -> None:
    stream = counted(db)
    odd: list[Any] = [{}, {"owner": "ana"}, {"item": 1, "owner": "ana", "ward": "A"}, {"item": 1, 2: 3}]
    assert stream.append([*odd, {"item": 1, "owner": "ben"}]) == Appended(1, known=0, dropped=0, unreadable=4)
    assert stream.append(odd) == Appended(new=0, known=0, dropped=0, unreadable=4)
    assert stream.publish().values == {None: 1}


def test_a_program_that_sends_no_items_at_all_is_told(db: jali.Database) -> None:
    stream = counted(db)
    for wrong in ("ana", 7, None):
        with pytest.raises(CatalogError, match="An item must be an Item, or a mapping with"):
            stream.append([{"item": 1, "owner": "ben"}, wrong])  # type: ignore[list-item]
    for batch in (Item("a", owner="ana"), 7, None, {"item": 1, "owner": "ben"}, "ana"):
        with pytest.raises(CatalogError, match="Items must be given as a list"):
            stream.append(batch)  # type: ignore[arg-type]
    assert stream.publish().values == {None: 0}


def test_a_frame_is_appended_by_its_rows(db: jali.Database) -> None:
    stream, rows = counted(db), {"item": ["a", "b"], "owner": ["ana", "ben"]}
    frames: list[Any] = [pandas.DataFrame(rows), polars.DataFrame(rows), pyarrow.table(rows)]
    for frame in frames:
        with pytest.raises(CatalogError, match="A frame is not a list of items") as refused:
            stream.append(frame)
        written = re.findall(r"st\.append\(frame\.(\w+)\((.*)\)\)\.", str(refused.value.remedy))
        ((method, argument),) = written
        found = getattr(frame, method)(*(word.strip("'") for word in [argument] if word))
        assert stream.append(found).unreadable == 0
    assert stream.publish().values == {None: 2}


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        ({"keys": ["A", "B"]}, {"item": 1, "owner": "ana"}, {"key": "B"}),
        ({"keys": ["A", "B"]}, {"item": 1, "owner": "ana", "key": "b"}, {"key": "B"}),
        ({"measure": "sum", "value": jali.Range(0, 9)}, {"item": 1, "owner": "ana"}, {"value": 3}),
        ({"measure": "mean", "value": jali.Range(0, 9)}, {"item": 1, "owner": "ana", "value": "3"}, {"value": 3}),
        ({"measure": "cdf", "bins": [1, 2]}, {"item": 1, "owner": "ana"}, {"value": 1}),
        ({}, {"item": 1, "owner": None}, {"owner": "ana"}),
    ],
)
def test_an_item_that_cannot_be_read_is_not_remembered_and_comes_again_rightly_spelled(
    db: jali.Database, said: dict[str, Any], wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    stream = counted(db, **said)
    assert stream.append([wrong]) == Appended(new=0, known=0, dropped=0, unreadable=1)
    assert stream.append([wrong | right]) == Appended(new=1, known=0, dropped=0)
    assert stream.append([wrong | right]) == Appended(new=0, known=1, dropped=0)
    assert set(stream.fields) == {"item", "owner", *right}


def test_keys_are_a_list_or_the_keys_of_a_column(db: jali.Database) -> None:
    stream = counted(db, keys=jali.Keys(["A", "B"]))
    assert counted(db, keys=["A", "B"]).declaration == stream.declaration
    for wrong in (5, "AB"):
        with pytest.raises(CatalogError, match="keys must be a list"):
            db.stream("other", **COUNT | {"keys": wrong})
    with pytest.raises(CatalogError, match="bins must be a list"):
        db.stream("other", **COUNT | {"measure": "cdf", "bins": 5})


def test_where_each_item_is_a_person_items_of_others_are_dropped(db: jali.Database) -> None:
    stream = counted(db, unit=None)
    assert stream.append([{"item": 1}, {"item": 2}, {"item": 1}]) == Appended(new=2, known=1, dropped=0)
    assert stream.append([{"item": 3, "owner": "ana"}, {"item": 4}]).unreadable == 1
    assert stream.append([{"item": 4}]) == Appended(new=0, known=1, dropped=0)
    assert stream.publish().values == {None: 3}


def test_a_table_cannot_take_the_name_of_a_stream(db: jali.Database, tmp_path: Path) -> None:
    stream = counted(db)
    source = write_parquet("SELECT 1 AS a", tmp_path / "t.parquet")
    with pytest.raises(CatalogError, match=r"A stream .* already exists"):
        db.protect(stream.name, source, unit=None, budget=jali.Budget(epsilon=1))
    with pytest.raises(CatalogError, match=r"A stream .* already exists"):
        db.publish(stream.name, source)


def test_explain_names_the_counters_that_were_considered(db: jali.Database) -> None:
    stream = db.stream("chosen", unit=None, horizon=64, budget=jali.Budget(epsilon=1))
    said = stream.explain()
    assert "considered" in said
    assert "binary-tree (Laplace)" in said
    assert max(map(len, said.splitlines())) < 260
    named = db.stream("named", unit=None, horizon=64, budget=jali.Budget(epsilon=1), mechanism="binary-tree")
    assert "considered" not in named.explain()


def test_bins_must_be_numbers(db: jali.Database) -> None:
    with pytest.raises(CatalogError, match="bins must be numbers"):
        db.stream("c", unit=None, horizon=4, budget=jali.Budget(epsilon=1), measure="cdf", bins=["a"])


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """400 independent errors, each outside its 95 % interval with probability 0.05 at most: over 60 below 1e-7."""
    with jali.connect() as db:
        stream = counted(db, unit=None, horizon=400, budget=jali.Budget(epsilon="1/2"))
        stream.publish(400)
        ticks = stream.ticks()
    first = ticks[0]
    assert first.interval(0.95) == {None: (first.low[None], first.high[None])}
    half = first.high[None] - first.values[None]
    errors = np.diff([tick.values[None] for tick in ticks], prepend=0)
    assert 0 < (abs(errors) > half).sum() <= 60
    # The noises of t increments add up: the interval after tick t is wider by about the root of t.
    assert (ticks[99].high[None] - ticks[99].low[None]) / (2 * half) == pytest.approx(10, rel=0.5)


# Declared once, charged once.


def test_the_whole_loss_is_charged_before_the_first_item(db: jali.Database) -> None:
    stream = counted(db, budget=jali.Budget(epsilon=2))
    assert stream.cost == Pure(2).event
    (account,) = db.ledger.accounts()
    assert (account.name, account.spent) == ("stream admissions", Pure(2).event)
    stream.append(items("ana.1"))
    stream.publish(10)
    assert db.ledger.accounts() == (account,)
    (receipt,) = db.receipts()
    assert receipt.question == "stream admissions: count so far, 40 ticks"


def test_the_same_declaration_opens_a_stream_and_another_is_refused(db: jali.Database) -> None:
    stream = counted(db, keys=["A", "B"])
    stream.append(items("ana.1.A"))
    stream.publish()
    assert counted(db, keys=["A", "B"]).value() == stream.value()
    assert db.stream("Admissions").value() == stream.value()
    for other in ({"keys": ["A"]}, {"horizon": 41}, {"max_items": 2}, {"adjacency": "replace-one"}):
        with pytest.raises(CatalogError, match="another declaration"):
            counted(db, **{"keys": ["A", "B"], **other})
    assert db.streams.list() == ("admissions",)
    assert len(db.receipts()) == 1


def test_a_stream_that_there_is_not_is_refused_and_those_there_are_named(db: jali.Database) -> None:
    with pytest.raises(QueryError, match="none yet"):
        db.stream("admissions")
    counted(db)
    with pytest.raises(QueryError, match="admissions"):
        db.stream("admision")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"horizon": 3, "budget": PLENTY}, "The privacy unit is missing"),
        ({"unit": "p", "budget": PLENTY}, "The horizon of the stream is missing"),
        ({"unit": "p", "horizon": 3}, "The budget of the stream is missing"),
        ({"unit": "p", "horizon": 0, "budget": PLENTY}, "horizon"),
        ({"unit": "p", "horizon": 3, "budget": 1}, "jali.Budget"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "max_items": 0}, "max_items"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "max_ticks": True}, "max_ticks"),
        ({"unit": None, "horizon": 3, "budget": PLENTY, "max_ticks": 2}, "Each item is a person"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "measure": "median"}, "count, sum, mean, cdf"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "measure": "sum"}, "range"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "value": jali.Range(0, 1)}, "neither value nor bins"),
        (
            {"unit": "p", "horizon": 3, "budget": PLENTY, "measure": "sum", "value": jali.Range(0, 0)},
            "A sum with a range from 0 to 0 is always 0",
        ),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "measure": "sum", "value": (0, 1)}, "Range of numbers"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "keys": ["A", "A"]}, "must be distinct"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "keys": range(10_001)}, "at most 10,000"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "mechanism": "tree"}, "no counter"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "every": "day"}, "start"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "start": "2026-01-01"}, "length of a tick"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "every": "fortnight", "start": "2026-01-01"}, "every"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "every": "month", "start": "2026-01-02"}, "first day"),
        ({"unit": "p", "horizon": 3, "budget": PLENTY, "every": "day", "start": "2026-01-01 12:00"}, "midnight"),
        ({"unit": "p", "horizon": 10**9, "budget": PLENTY, "every": "day", "start": "2026-01-01"}, "calendar"),
        (
            {"unit": "p", "horizon": 3, "budget": PLENTY, "late": 3},
            "key and late only apply to streams over a table",
        ),
        ({"unit": "p", "horizon": 3, "epsilon": 1, "rho": 1}, "cannot be combined"),
        ({"unit": "p", "horizon": 3, "rho": 1, "delta": 1e-6}, "delta can only be combined with epsilon"),
    ],
)
def test_a_wrong_declaration_is_refused_and_costs_nothing(said: dict[str, Any], words: str) -> None:
    with jali.connect() as db:
        with pytest.raises(CatalogError, match=words):
            db.stream("admissions", **said)
        assert db.ledger.accounts() == ()
        assert db.streams.list() == ()


@pytest.mark.parametrize("name", ["", "a b", "1a", "stream;", None])
def test_names_are_words(name: Any) -> None:
    with jali.connect() as db, pytest.raises(CatalogError, match="name"):
        db.stream(name, **COUNT)


def test_a_stream_cannot_be_called_as_a_table(db: jali.Database) -> None:
    import pandas

    db.protect("visits", pandas.DataFrame({"x": [1]}), unit=None, budget=jali.Budget(1))
    with pytest.raises(CatalogError, match="table Visits"):
        db.stream("Visits", **COUNT)


def test_a_stream_beyond_its_budget_is_refused_and_leaves_nothing_behind(db: jali.Database) -> None:
    with pytest.raises(BudgetExceeded):
        counted(db, budget=jali.Budget(epsilon=1), epsilon=2)
    assert db.ledger.accounts() == ()
    assert db.streams.list() == ()


def test_all_of_delta_is_for_the_one_event_of_a_stream(db: jali.Database) -> None:
    """A budget keeps half of delta for events with a delta of their own; a stream has none."""
    stream = counted(db, budget=jali.Budget(epsilon=1, delta=1e-6), mechanism="every-prefix", horizon=1000)
    assert stream.cost.rho == Filter(jali.Budget(1, 1e-6, delta_events=0)).rho
    (account,) = db.ledger.accounts()
    assert account.budget.epsilon == 1
    assert account.budget.delta == Fraction(1, 10**6)


def test_a_stream_within_rho_alone_has_a_budget_that_affords_it(db: jali.Database) -> None:
    stream = counted(db, budget=None, rho="1/50", mechanism="every-item")
    assert stream.cost.rho == Fraction(1, 50)
    (account,) = db.ledger.accounts()
    assert account.budget.delta == Fraction(1, 10**6)
    assert Fraction("0.85") < account.budget.epsilon < 2


def test_the_receipt_of_a_stream_is_not_redeemed_but_opened(db: jali.Database) -> None:
    counted(db)
    with pytest.raises(QueryError, match="receipt of a stream"):
        db.redeem(db.receipts()[0].id)


# One person.


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, Participation(adjacency="add-remove")),
        ({"adjacency": "replace-one"}, Participation(adjacency="replace-one")),
        (
            {"max_ticks": 3, "separation": 7, "max_items": 4},
            Participation(adjacency="add-remove", ticks=3, separation=7, l1=4),
        ),
        (
            {"measure": "sum", "value": jali.Range(0, 1 << 20), "max_items": 2},
            Participation(adjacency="add-remove", l1=2 << 20),
        ),
        (
            {"measure": "sum", "value": jali.Range(-(1 << 20), 5)},
            Participation(adjacency="add-remove", l1=1 << 20, signed=True),
        ),
    ],
)
def test_the_mechanism_is_made_for_what_one_person_can_add(said: dict[str, Any], expected: Participation) -> None:
    with jali.connect() as db:
        declared = counted(db, **said).declaration
    assert declared.person == expected == declared.mechanism.person


ITEM = st.tuples(st.sampled_from("12345"), st.sampled_from("AB"), st.integers(-12, 12))
TICK = st.lists(ITEM, max_size=5)


@st.composite
def batches(draw: Any, sent: list[Item]) -> list[list[Item]]:
    """Cut one tick's items into batches, in any order."""
    mixed = draw(st.permutations(sent))
    cut = draw(st.integers(0, len(mixed)))
    return [mixed[:cut], mixed[cut:]]


def increments(said: dict[str, Any], ticks: list[list[list[Item]]]) -> tuple[Any, Participation]:
    """Return what was added to each column in each tick, in steps of the lattice, and what one person may add."""
    with jali.connect() as db:
        stream = db.stream("s", unit="p", horizon=9, budget=PLENTY, mechanism="every-item", **said)
        for sent in ticks:
            for batch in sent:
                stream.append(batch)
            stream.publish()
        measure = stream.declaration.measure
        assert isinstance(measure, StreamSum)
        sums = [[tick.values[key] / float(measure.step) for key in measure.labels] for tick in stream.ticks()]
        return np.diff(np.array(sums), axis=0, prepend=0), stream.declaration.person


@settings(max_examples=15 * DEPTH, deadline=None)
@given(st.data())
def test_neighbours_differ_by_no_more_than_one_person_may_add(data: st.DataObject) -> None:
    """One person's items are anything, or none; batches and their order are anything; others' items stay."""
    said: dict[str, Any] = {"measure": "sum", "value": jali.Range(-8, 4), "keys": ["A", "B"]}
    for bound, most in (("separation", 3), ("max_ticks", 3), ("max_items", 2)):
        fewest = 2 if bound == "max_ticks" and said["separation"] > 1 else 1
        said[bound] = data.draw(st.integers(fewest, most), label=bound)
    others = data.draw(
        st.lists(st.lists(st.tuples(st.sampled_from("ab"), ITEM), max_size=4), min_size=5, max_size=5)
    )
    own = data.draw(st.lists(TICK, min_size=5, max_size=5))
    found = []
    nothing: list[list[Any]] = [[]] * 5
    for present in (own, nothing):
        ticks = []
        for their, mine in zip(others, present, strict=True):
            sent = {(who, item): Item(item, owner=who, key=key, value=v) for who, (item, key, v) in their}
            # Of equal keys the first counts: there is one of each, as which is first is the owner's own affair.
            me = [Item(item, owner="me", key=key, value=v) for item, key, v in mine]
            ticks.append(data.draw(batches([*sent.values(), *me])))
        added, person = increments(said, ticks)
        found.append(added)
    moved = np.abs(found[0] - found[1]).sum(axis=1)
    entered = np.flatnonzero(moved)
    assert len(entered) <= person.ticks == said["max_ticks"]
    assert (np.diff(entered) >= person.separation).all()
    assert moved.max() <= float(person.l1) == said["max_items"] * 2**20


# Durable and secret.


def test_a_stream_goes_on_where_it_was_when_its_database_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "clinic.jali"
    with jali.connect(path) as db:
        stream = counted(db, budget=jali.Budget(epsilon=1), mechanism="binary-tree")
        stream.append(items("ana.1"))
        told = stream.publish(3)
        stream.append(items("ben.1"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with jali.connect(path) as db:
        stream = db.stream("admissions")
        assert stream.value() == told
        assert stream.value().interval(0.9) == told.interval(0.9)
        assert stream.append(items("ana.1", "ben.1")) == Appended(new=0, known=2, dropped=0)
        assert stream.publish().number == 4
        assert db.verify().problems == ()


def test_a_value_that_was_stored_but_not_returned_is_returned_later(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = counted(db, budget=jali.Budget(epsilon=1))
    stream.append(items("ana.1"))

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(DurableStreams, "value", cut_off)
        with pytest.raises(KeyboardInterrupt):
            stream.publish(1)
    stored = stream.ticks()
    assert len(stored) == 1
    assert stream.publish(1) == stored[0]


def test_a_mechanism_that_fails_tells_nothing_and_changes_nothing(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = counted(db)
    stream.append(items("ana.1"))

    def failing(*_: object, **__: object) -> None:
        raise ValueError("ana")

    with monkeypatch.context() as patch:
        patch.setattr(type(stream.declaration.mechanism), "resume", failing)
        with pytest.raises(LedgerError) as caught:
            stream.publish()
    assert "ana" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert stream.publish().values == {None: 1}


def test_errors_of_the_ledger_carry_no_frame_with_items_or_sums(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = counted(db)

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("ana")

    with monkeypatch.context() as patch:
        patch.setattr(StreamTables, "put_items", full)
        patch.setattr(StreamTables, "put_state", full)
        for step in (lambda: stream.append(items("ana.1")), stream.publish):
            with pytest.raises(LedgerError) as caught:
                step()
            assert caught.value.__context__ is None
            frames = traceback.extract_tb(caught.value.__traceback__)
            assert not any("ledger" in frame.filename for frame in frames)
    stream.append(items("ana.1"))
    assert stream.publish().values == {None: 1}


def test_after_its_horizon_a_stream_takes_nothing_and_tells_what_it_told(db: jali.Database) -> None:
    stream = counted(db, horizon=2)
    last = stream.publish(2)
    for over in (stream.publish, lambda: stream.append(items("ana.1"))):
        with pytest.raises(QueryError, match=r"All 2 ticks of .* are published"):
            over()
    for refused in (None, 3):
        with pytest.raises(QueryError, match="2 ticks"):
            stream.publish(refused)
    assert stream.publish(2) == last


@pytest.mark.parametrize("tick", [0, -1, True, 1.0, "1"])
def test_ticks_are_whole_numbers(db: jali.Database, tick: Any) -> None:
    stream = counted(db)
    for method in (stream.publish, stream.value):
        with pytest.raises(QueryError, match="whole number"):
            method(tick)
    with pytest.raises(QueryError, match="not published"):
        stream.value()


def test_an_analyst_sees_what_was_published_and_can_do_nothing(db: jali.Database) -> None:
    stream = counted(db, every="day", start="2026-01-01")
    stream.append(items("ana.1"))
    stream.publish(2)
    view = db.session("ana").stream("admissions")
    assert view.ticks() == stream.ticks()
    assert view.interval(0.9) == stream.interval(0.9)
    assert not {"append", "publish", "open_tick"} & set(dir(view))
    for word in ("append", "publish", "open_tick"):
        with pytest.raises(AttributeError, match="only the curator"):
            getattr(view, word)
    with pytest.raises(AttributeError, match="no attribute 'items'"):
        getattr(view, "items")  # noqa: B009 - it is not there
    assert "every-item" in view.explain()
    columns = view.columns()
    assert list(columns) == ["tick", "label", "value", "low", "high"]
    assert columns["tick"] == [1, 2]
    assert columns["label"] == ["2026-01-01", "2026-01-02"]
    assert columns["value"] == [1.0, 1.0]
    assert columns["low"] == pytest.approx([1.0, 1.0])
    assert columns["high"] == pytest.approx([1.0, 1.0])


def test_nothing_public_of_a_stream_tells_of_its_items(db: jali.Database) -> None:
    stream = counted(db, keys=["A", "B"])
    before = repr(stream), stream.explain(), repr(stream.declaration)
    stream.append(items(*(f"p{i}.1.A" for i in range(30))))
    assert (repr(stream), stream.explain(), repr(stream.declaration)) == before
    assert stream.published == 0
    assert stream.ticks() == ()
    assert db.streams.list() == ("admissions",)


def test_every_counter_is_stored_with_its_stream_and_made_again() -> None:
    from jali.streams.choose_counter import counters

    for name in counters():
        for budget in (jali.Budget(epsilon=1), jali.Budget(epsilon=1, delta=1e-6)):
            with jali.connect() as db:
                try:
                    stream = counted(db, mechanism=name, budget=budget, adaptive=False, keys=["A", "B"])
                except JaliError:
                    continue  # the chooser's own tests say which noise a counter has
                (stored,) = db._ledger.streams.all()
                again = read_stream_declaration.__wrapped__(stored.declaration)
                assert again == stream.declaration
                assert repr(again.mechanism) == repr(stream.declaration.mechanism)
                stream.append(items("ana.1.A"))
                assert set(stream.publish(9).values) == {"A", "B"}, name


def test_a_counter_that_now_measures_with_other_noise_is_refused(db: jali.Database) -> None:
    counted(db)
    (stored,) = db._ledger.streams.all()
    text = json.loads(stored.declaration)
    assert "DiscreteLaplaceLaw" in text["noise"]
    text["noise"] = text["noise"].replace("Fraction(1, 1)", "Fraction(2, 1)", 1)
    with pytest.raises(LedgerError, match="another version"):
        read_stream_declaration(json.dumps(text))


@pytest.mark.parametrize(
    ("each", "noise"), [("binary-tree", {"epsilon": 1}), ("buffered-toeplitz", {"epsilon": 1, "delta": 1e-6})]
)
def test_an_epoch_that_is_now_measured_with_other_noise_is_refused_when_it_comes(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch, each: str, noise: dict[str, Any]
) -> None:
    """Epochs have 1, 16, 256 ... ticks: here another version has less noise in those from 256 on."""
    stream = counted(db, mechanism=f"doubling-{each}", horizon=None, budget=jali.Budget(**noise))
    stream.publish(3)
    right = epoch_sensitivity.distance_for_any_epochs

    def wrong(counter: Counter) -> tuple[Fraction, Fraction]:
        norm, square = right(counter)
        return (norm, square) if counter.horizon < 256 else (norm / 2, square / 4)

    monkeypatch.setattr(doubling, "distance_for_any_epochs", wrong)
    read_stream_declaration.cache_clear()
    again = db.stream("admissions")
    assert again.publish(17).number == 17
    with pytest.raises(LedgerError, match="another version"):
        again.publish(18)
    assert again.published == 17
    monkeypatch.undo()
    read_stream_declaration.cache_clear()
    assert db.stream("admissions").publish(18).number == 18


def test_an_epoch_goes_on_with_the_strategy_that_it_was_begun_with(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is optimised comes out otherwise in another version, or on another machine."""
    stream = counted(
        db, mechanism="doubling-buffered-toeplitz", horizon=None, budget=jali.Budget(epsilon=1, delta=1e-6)
    )
    wanted = [stream.declaration.mechanism.part(number) for number in range(4)]  # type: ignore[attr-defined]

    def forgotten(*_: int) -> None:
        raise AssertionError("Parameters were chosen again.")

    monkeypatch.setattr(buffered_toeplitz, "best_parameters", forgotten)
    read_stream_declaration.cache_clear()
    again = db.stream("admissions")
    assert [again.declaration.mechanism.part(number) for number in range(4)] == wanted  # type: ignore[attr-defined]
    assert again.publish(300).number == 300


def test_the_noise_of_every_length_of_an_epoch_is_stored(db: jali.Database) -> None:
    stream = counted(db, mechanism="doubling-every-item", horizon=None)
    lengths = [line.split()[0] for line in stream.declaration.noise.split("\n")]
    assert lengths == [str(1 << n) for n in (0, 4, 8, 12, 16, 20, 22)]
