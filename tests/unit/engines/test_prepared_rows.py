"""Prepared copies: what a row's rank depends on, and what it does not."""

from __future__ import annotations

import math
import os
import random
import stat
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from tests.depth import thinned
from tests.parquet import write_parquet
from tests.seeded import SeededBits

from jali.catalog.tables import Source, Table
from jali.engines.duckdb import DuckDBEngine
from jali.errors import CatalogError
from jali.privacy import Adjacency, Budget
from jali.sampling import BitSource

# Identical rows, missing values, both zeros, NaN, and text that holds what contents are spelled with.
VALUES: tuple[float | None, ...] = (0.0, -0.0, math.nan, None, 1.5, math.inf)
TEXTS: tuple[str | None, ...] = ("", "-", "1:a", "a", None)
Row = tuple[int | None, float | None, str | None]


def some_rows(seed: int, people: int = 6, rows: int = 60) -> list[Row]:
    draw = random.Random(seed)
    units = [None, *range(people)]
    return [(draw.choice(units), draw.choice(VALUES), draw.choice(TEXTS)) for _ in range(rows)]


def prepared(engine: DuckDBEngine, table: Table, bits: BitSource | None = None) -> Source:
    """Write a copy, and return where it is."""
    told: list[Source | None] = []
    engine.prepare(table, lambda _: None, told.append, bits)
    nothing, copy = told
    assert nothing is None
    assert copy is not None
    return copy


def copy_of(rows: Sequence[Row], directory: Path, seed: int = 1) -> list[tuple[Any, ...]]:
    """Write the copy of some rows with a given key, and read it as the file has it."""
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    kinds = pa.int64(), pa.float64(), pa.string()
    frame = pa.table({n: pa.array(c, k) for n, c, k in zip(("uid", "rank", "word"), columns, kinds, strict=True)})
    engine = DuckDBEngine(directory)
    source = Source("frame", "t")
    table = Table("t", source, "uid", 2, Adjacency.ADD_REMOVE, engine.fields(source, {}, frame), Budget(epsilon=1))
    engine.attach("t", frame)
    copy = prepared(engine, table, SeededBits(seed))
    engine.close()
    with duckdb.connect(copy.location, read_only=True) as connection:
        return connection.execute(f'SELECT uid, "rank", word, person, place FROM "{copy.relation}"').fetchall()


def content(row: Sequence[Any]) -> tuple[str, ...]:
    """A row as it can be told from others: -0.0 is not 0.0, NaN is NaN."""
    return tuple(repr(value) for value in row[:3])


def ranks(copied: Sequence[tuple[Any, ...]]) -> dict[Any, Counter[tuple[Any, ...]]]:
    found: dict[Any, Counter[tuple[Any, ...]]] = defaultdict(Counter)
    for row in copied:
        found[row[0]][(content(row), row[4])] += 1
    return found


def seen(row: Row) -> Row:
    """A row as questions see it: NaN is missing."""
    return (row[0], None if row[1] is not None and math.isnan(row[1]) else row[1], row[2])


@pytest.mark.parametrize("seed", range(3))
def test_a_copy_has_the_rows_that_have_an_owner_and_ranks_from_one_up(seed: int, tmp_path: Path) -> None:
    rows = some_rows(seed)
    copied = copy_of(rows, tmp_path)
    assert Counter(map(content, copied)) == Counter(content(seen(row)) for row in rows if row[0] is not None)
    assert len({(row[0], row[3]) for row in copied}) == len({row[3] for row in copied}) == 6
    for person in {row[3] for row in copied}:
        mine = sorted(row[4] for row in copied if row[3] == person)
        assert mine == list(range(1, len(mine) + 1))


@thinned(4)
@pytest.mark.parametrize("seed", range(4))
def test_ranks_do_not_depend_on_other_people_or_on_the_order_of_rows(seed: int, tmp_path: Path) -> None:
    rows = some_rows(seed)
    shuffled = [(-1, 1.5, "a"), *random.Random(seed).sample(rows, len(rows)), (99, 0.0, None)]
    alone = [row for row in rows if row[0] in (0, None)]
    whole, moved = ranks(copy_of(rows, tmp_path)), ranks(copy_of(shuffled, tmp_path))
    assert all(moved[person] == whole[person] for person in whole)
    assert ranks(copy_of(alone, tmp_path))[0] == whole[0]


def test_ranks_are_drawn_with_a_key_and_fair(tmp_path: Path) -> None:
    """The first of two rows is each of them for about half of 2,000 people: false alarms below 1e-9."""
    rows: list[Row] = [(i % 2000, float(i // 2000), None) for i in range(4000)]
    first, second = ({row[0]: row[1] for row in copy_of(rows, tmp_path, seed) if row[4] == 1} for seed in (1, 2))
    assert first != second
    assert abs(sum(first.values()) - 1000) < 140


def test_rows_of_a_person_lie_together(tmp_path: Path) -> None:
    people = [row[3] for row in copy_of(some_rows(3), tmp_path)]
    assert people == sorted(people)


def test_a_copy_is_for_its_owner_only_and_leaves_nothing_else(tmp_path: Path) -> None:
    directory = tmp_path / "copies"
    directory.mkdir(mode=0o755)
    stale = directory / "t.999999999.part"
    stale.touch()
    copy_of(some_rows(1), directory)
    assert [path.name for path in directory.iterdir()] == ["t.duckdb"]
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((directory / "t.duckdb").stat().st_mode) == 0o600


def test_a_table_without_rows_has_a_copy_too(tmp_path: Path) -> None:
    assert copy_of([], tmp_path) == []


def test_a_copy_that_cannot_be_written_leaves_the_old_one_and_says_nothing_of_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_parquet("SELECT 1 AS uid, 'secret' AS word", path)
    engine, source = DuckDBEngine(tmp_path / "copies"), Source("parquet", str(path))
    fields = engine.fields(source, {})
    table = Table("t", source, "uid", 2, Adjacency.ADD_REMOVE, fields, Budget(epsilon=1))
    copy = prepared(engine, table)
    before = Path(copy.location).stat().st_ino

    def replaced(stage: str) -> None:
        if stage == "ranking rows":
            write_parquet("SELECT 2 AS uid, 'secret' AS word", path)
            os.utime(path, (1, 1))

    with pytest.raises(CatalogError, match="could not be written") as refused:
        engine.prepare(table, replaced, lambda _: None)
    engine.close()
    assert "secret" not in str(refused.value)
    assert refused.value.__context__ is None
    assert Path(copy.location).stat().st_ino == before
    assert [found.name for found in (tmp_path / "copies").iterdir()] == ["t.duckdb"]
