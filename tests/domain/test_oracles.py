"""The oracle suite: no stored value of one person decides whether a question is answered, nor in which words not.

Two tables differ in Bob, whose rows hold every extreme that the source can store. In every position that a column
can stand in, both give the same outcome: answered, or refused before anything is charged, with the same words.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.depth import DEPTH, whole
from tests.domain.columns import Column
from tests.domain.outcomes import TABLES, apart, forms, neighbours, outcome
from tests.domain.questions import FORMS, UNREADABLE
from tests.domain.sources import SOURCES, Source

import jali

# One of so many positions at depth 1.
_EVERY = 1 if DEPTH > 1 else 90


def positions(source: Source, shift: int) -> Iterator[tuple[Column, str, str]]:
    """Give each position of each column, or some of them: others for each source."""
    found = [(column, name, sql) for column in source.readable for name, sql in forms(column).items()]
    every = min(_EVERY, len(found))
    yield from (one for place, one in enumerate(found) if (place + shift) % every == 0)


def check_source(source: Source, db: jali.Database, shift: int = 0) -> int:
    """Fail if two outcomes differ, or if the engine failed; return how many values were tried, over all places."""
    tried, answered, wrong = 0, 0, {}
    for column, name, sql in positions(source, shift):
        plain, hostile = apart(db, sql, column.name)
        tried += len(column.hostile)
        answered += plain.kind == "answered"
        if plain != hostile or plain.kind == "failed":
            wrong[column.name, name] = plain, hostile
    assert wrong == {}
    # Positions that are refused most of the time would look at nothing but the planner.
    assert DEPTH == 1 or answered > 0.9 * sum(1 for _ in positions(source, shift))
    return tried


@whole
@pytest.mark.parametrize("name", SOURCES)
def test_a_person_full_of_extremes_changes_no_outcome(name: str, tmp_path: Path) -> None:
    with neighbours(SOURCES[name], tmp_path) as db:
        assert check_source(SOURCES[name], db, list(SOURCES).index(name) * 7)


@pytest.mark.parametrize("name", [name for name in SOURCES if not name.startswith("pandas")])
def test_nor_does_it_where_each_row_is_a_person(name: str, tmp_path: Path) -> None:
    source = SOURCES[name]
    with neighbours(source, tmp_path, unit=None, max_rows=None) as db:
        for column in source.readable[:: 1 if DEPTH > 1 else 9]:
            for form in ("told apart", "a key", "as text", "summed", "quantiles", "ends of dates"):
                if column.kind in FORMS[form].kinds:
                    plain, hostile = apart(db, FORMS[form].sql, column.name)
                    assert plain == hostile, (column, form)
                    assert plain.kind != "failed", (column, form)


@pytest.mark.parametrize("name", ["parquet", "duckdb", "csv", "pandas object"])
def test_nor_does_it_in_a_prepared_copy(name: str, tmp_path: Path) -> None:
    source = SOURCES[name]
    with neighbours(source, tmp_path) as db:
        for table in TABLES:
            db.prepare(table)
        for column in source.readable[:: 1 if DEPTH > 1 else 9]:
            for form in ("told apart", "a key", "as text", "summed", "ends of each person", "joined on it"):
                if column.kind in FORMS[form].kinds:
                    plain, hostile = apart(db, FORMS[form].sql, column.name)
                    assert plain == hostile, (column, form)
                    assert plain.kind != "failed", (column, form)


# A column that names the people: its values are hashed, compared, counted and written as text.
_OWNED = (
    "SELECT COUNT(*) FROM {t}",
    "SELECT COUNT(DISTINCT {c}) FROM {t}",
    "SELECT name, COUNT(*) FROM {t} GROUP BY name",
    "SELECT name, MEDIAN(CLAMP(uid, 0, 9)) FROM {t} GROUP BY name",
    "SELECT COUNT(*) FROM {t} a JOIN {t} b USING ({c})",
    "SELECT COUNT(*) FROM (SELECT {c}, COUNT(*) AS n FROM {t} GROUP BY {c})",
    "SELECT COUNT(DISTINCT name) FROM {t}",
)


@pytest.mark.parametrize("name", ["parquet", "duckdb", "arrow", "pandas object", "json"])
def test_nor_does_a_person_whose_name_is_an_extreme(name: str, tmp_path: Path) -> None:
    source = SOURCES[name]
    for column in source.readable[:: 1 if DEPTH > 1 else 8]:
        if column.kind is None or column.kind.value == "real":
            continue
        folder = tmp_path / column.name
        folder.mkdir()
        with neighbours(source, folder, unit=column.name) as db:
            for sql in _OWNED[:: 1 if DEPTH > 1 else 3]:
                plain, hostile = apart(db, sql, column.name)
                assert plain == hostile, (column, sql)
                assert plain.kind != "failed", (column, sql)


@whole
@pytest.mark.parametrize("name", SOURCES)
def test_a_column_of_another_type_cannot_be_named_in_any_position(name: str, tmp_path: Path) -> None:
    """It is refused as if it were not there: by the same words, before anything is read."""
    source = SOURCES[name]
    with neighbours(source, tmp_path) as db:
        for column in source.unreadable[:: 1 if DEPTH > 1 else 4]:
            for sql in UNREADABLE:
                plain, hostile = apart(db, sql, column.name)
                assert plain.kind == "refused", (column.name, sql)
                assert plain == hostile
        for sql in (
            "SELECT COUNT(*) FROM (SELECT * FROM {t})",
            "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM {t})",
        ):
            for table in TABLES:
                asked = sql.format(t=table)
                assert outcome(db, asked, table).kind == "answered"
                assert not any(
                    f'"{column.name}"' in db.explain(asked, epsilon=1).sql for column in source.unreadable
                )


def test_there_are_enough_values_in_enough_positions() -> None:
    """What depth 10 tries: values, positions and sources."""
    tried = sum(len(c.hostile) * len(forms(c)) for source in SOURCES.values() for c in source.readable)
    assert tried >= 20_000
