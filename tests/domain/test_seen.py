"""Five seen ways in which one person's stored value decided whether a question failed, each by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.domain.outcomes import outcome
from tests.harness import noise_off

import jali
from jali.ir.relations import Capped, Relation, parts

ORACLE = "SELECT COUNT(CASE WHEN name = 'Bob' AND hiv THEN {e} END) FROM {t}"
BUDGET = jali.Budget(epsilon=1000, delta="1/100")
# numpy's NaT, written as a value: DuckDB reads it, and fails on what is computed from it.
NAT = -(2**63)
PEOPLE: dict[str, list[Any]] = {"uid": [1, 2, 3], "name": ["Ann", "Bob", "Cy"], "hiv": [False, True, True]}


def times(bobs: int) -> pa.Array:
    return pa.array([0, bobs, 1_000_000], pa.int64()).view(pa.timestamp("us"))


def both(plain: Any, harsh: Any, **terms: Any) -> jali.Database:
    """Protect a table and its neighbour."""
    db = jali.connect()
    for name, source in (("plain", plain), ("harsh", harsh)):
        db.protect(name, source, unit="uid", max_rows=5, budget=BUDGET, **terms)
    return db


def check(db: jali.Database, sql: str, kind: str = "answered") -> None:
    for table in ("plain", "harsh"):
        assert outcome(db, sql.format(t=table), table, {"epsilon": "0.0001", "delta": "1e-9"}).kind == kind, table


@pytest.mark.parametrize("kind", ["frame", "parquet", "duckdb"])
def test_a_time_in_the_first_hours_of_duckdbs_calendar(kind: str, tmp_path: Path) -> None:
    sources = []
    for name, bobs in (("plain", 0), ("harsh", NAT)):
        frame = pa.table(PEOPLE | {"at": times(bobs), "place": [name] * 3})
        place = tmp_path / f"{name}.{kind}"
        if kind == "parquet":
            pq.write_table(frame, place)
        elif kind == "duckdb":
            with duckdb.connect(place) as connection:
                connection.register("given", frame)
                connection.execute("CREATE TABLE stored AS FROM given")
        sources.append(frame if kind == "frame" else place)
    with both(*sources, **({"relation": "stored"} if kind == "duckdb" else {})) as db:
        for expression in ("CAST(at AS TEXT)", "at || ''", "DATE_PART('year', at)", "at"):
            check(db, ORACLE.replace("{e}", expression))
        check(db, "SELECT COUNT(DISTINCT at) FROM {t}")
        check(db, "SELECT at, COUNT(*) FROM {t} GROUP BY at")
        if kind != "frame":
            for table in ("plain", "harsh"):
                db.prepare(table)
            check(db, "SELECT COUNT(DISTINCT at) FROM {t}")


@pytest.mark.parametrize("kind", ["object", "string[python]", "category"])
def test_half_a_character_in_a_text_of_pandas(kind: str) -> None:
    def notes(bobs: str) -> Any:
        given = pd.Series(["a", bobs, "c"], dtype="object" if kind == "category" else kind)
        return pd.Categorical.from_codes([0, 1, 2], pd.Index(given)) if kind == "category" else given

    frames = [pd.DataFrame(PEOPLE | {"note": notes(bobs)}) for bobs in ("b", "\ud800")]
    with both(*frames) as db:
        check(db, ORACLE.replace("{e}", "note || 'x'"))
        check(db, "SELECT COUNT(DISTINCT note) FROM {t}")
        check(db, "SELECT note, COUNT(*) FROM {t} GROUP BY note")


@pytest.mark.parametrize(
    ("type_", "bobs"),
    [
        (pa.timestamp("us", "Europe/Berlin"), [NAT, 0, 1]),
        (pa.timestamp("ns", "UTC"), [NAT, 2**63 - 1, 1]),
        (pa.duration("us"), [NAT, 2**63 - 1, 1]),
        (pa.list_(pa.timestamp("us")), None),
    ],
)
def test_a_column_of_another_type_read_by_distinct_and_union(type_: pa.DataType, bobs: list[int] | None) -> None:
    def column(values: list[int] | None) -> pa.Array:
        if values is None or pa.types.is_list(type_):
            inner = pa.array([0 if values is not None else NAT], pa.int64()).view(pa.timestamp("us"))
            return pa.ListArray.from_arrays([0, 0, 1, 1], inner)
        return pa.array(values, pa.int64()).view(type_)

    plain, harsh = (pa.table(PEOPLE | {"odd": column(v)}) for v in ([0, 1, 2], bobs))
    with both(plain, harsh.add_column(0, "other", [["x"] * 3])) as db:
        for inner in ("SELECT DISTINCT * FROM {t}", "SELECT * FROM {t} UNION SELECT * FROM {t}"):
            check(db, f"SELECT COUNT(*) FROM ({inner})")
        for inner in (
            "SELECT DISTINCT uid, odd FROM {t}",
            "SELECT odd, uid FROM {t} UNION ALL SELECT odd, uid FROM {t}",
        ):
            check(db, f"SELECT COUNT(*) FROM ({inner})", "refused")


def test_values_that_appear_in_a_file_after_it_was_checked(tmp_path: Path) -> None:
    """Whatever they are, nobody's question reads them, and nobody pays."""
    places = [tmp_path / f"{name}.parquet" for name in ("plain", "harsh")]
    for place in places:
        pq.write_table(pa.table(PEOPLE | {"at": times(0)}), place)
    with both(*places) as db:
        check(db, "SELECT COUNT(DISTINCT at) FROM {t}")
        pq.write_table(pa.table(PEOPLE | {"at": times(NAT)}), places[1])
        before = len(db.receipts())
        with pytest.raises(
            jali.errors.EngineError, match=r"has changed since it was last checked\. Nothing was spent"
        ):
            db.ask("SELECT COUNT(*) FROM harsh", epsilon=1)
        assert len(db.receipts()) == before
        db.refresh("harsh")
        check(db, "SELECT COUNT(DISTINCT at) FROM {t}")


def test_a_row_that_is_copied_and_joined_to_itself_thirteen_ways() -> None:
    """With Bob's row it exhausted memory, without it nothing."""
    plain = pa.table({"uid": [1, 2], "name": ["Ann", "Eve"]})
    harsh = pa.table({"uid": [1, 2, 3], "name": ["Ann", "Eve", "Bob"]})
    copies = " UNION ALL ".join(["SELECT uid FROM {t} WHERE name = 'Bob'"] * 2)
    with both(plain, harsh) as db:
        for times, kind in ((13, "refused"), (2, "answered")):
            joins = " ".join(f"JOIN c c{i} USING (uid)" for i in range(times))
            check(db, f"WITH c AS ({copies}) SELECT COUNT(*) FROM c {joins}", kind)
        with pytest.raises(jali.errors.Unsupported, match="more than 1,048,576 rows per person"):
            db.explain(
                "SELECT COUNT(*) FROM plain a" + "".join(f" JOIN plain t{i} USING (uid)" for i in range(13)),
                epsilon=1,
            )


LONGER = f"REPLACE(note, '0', '{'a' * 400}')"


def _replaced(times: int, text: str) -> list[str]:
    return [f"REPLACE({text}, '0', '{chr(97 + i) * 400}')" for i in range(times)]


def test_short_texts_of_one_person_that_are_paired_and_made_long() -> None:
    """330 rows of five characters took four gigabytes, as keys of groups and as different values."""
    plain: dict[str, list[Any]] = {"uid": list(range(100)), "note": ["x"] * 100, "age": [30] * 100}
    bobs: dict[str, list[Any]] = {"uid": [1000] * 330, "note": [f"{i:05d}" for i in range(330)], "age": [40] * 330}
    harsh = {name: values + bobs[name] for name, values in plain.items()}
    columns = {"age": jali.Range(0, 120)}
    with both(pa.table(plain), pa.table(harsh), columns=columns) as db:
        keys = [f"{text} AS g{i}" for i, text in enumerate(_replaced(14, "a.note || b.note"))]
        grouped = f"SELECT {', '.join(keys)}, MEDIAN(a.age) FROM {{t}} a JOIN {{t}} b USING (uid) GROUP BY "
        check(db, grouped + ", ".join(f"g{i}" for i in range(14)))
        counted = ", ".join(f"COUNT(DISTINCT {text})" for text in _replaced(20, "a.note || b.note"))
        check(db, f"SELECT {counted} FROM {{t}} a JOIN {{t}} b USING (uid)")


@pytest.mark.parametrize(
    ("sql", "most"),
    [
        # So many rows of a person make 2^28 bytes of texts: 14 of 2^14 bytes each, of pairs of rows.
        ("SELECT {made}, COUNT(*) FROM plain a JOIN plain b USING (uid) GROUP BY {made}", 30),
        ("SELECT {made}, COUNT(*) FROM plain a GROUP BY {made}", (1 << 28) // (14 << 14)),
        ("SELECT a.note, COUNT(*) FROM plain a JOIN plain b USING (uid) GROUP BY a.note", 125),
        ("SELECT a.note, COUNT(*) FROM plain a GROUP BY a.note", None),
        ("SELECT UPPER(a.note) AS k, COUNT(*) FROM plain a GROUP BY k", None),
        ("SELECT COUNT(*) FROM plain a JOIN plain b USING (uid)", 1020),
        ("SELECT COUNT(a.note) FROM plain a JOIN plain b USING (uid)", 1020),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT uid, {one} AS r FROM plain)", 1 << 14),
        ("SELECT COUNT(*) FROM (SELECT uid, {one} AS r FROM plain UNION SELECT uid, note FROM plain)", 1 << 14),
    ],
)
def test_rows_are_capped_by_the_bytes_of_the_texts_that_an_engine_holds(sql: str, most: int | None) -> None:
    table = pa.table({"uid": [1, 2], "note": ["x", "y"]})
    made = ", ".join(_replaced(14, "a.note"))
    with both(table, table.append_column("more", pa.array([1, 2]))) as db:
        plan = db.explain(sql.format(made=made, one=LONGER), epsilon=1, delta="1e-9")
    found = {relation.rows for relation in _relations(plan.source) if isinstance(relation, Capped)}
    assert found == (set() if most is None else {most})


def _relations(relation: Relation) -> list[Relation]:
    return [relation, *(one for part in parts(relation) for one in _relations(part))]


def test_a_file_whose_times_duckdb_cannot_read_is_refused_when_it_is_protected(tmp_path: Path) -> None:
    """Milliseconds that have no microseconds stop DuckDB in the middle of a Parquet file."""
    place = tmp_path / "far.parquet"
    pq.write_table(pa.table(PEOPLE | {"at": pa.array([0, 2**62, 1], pa.int64()).view(pa.timestamp("ms"))}), place)
    with jali.connect() as db, pytest.raises(jali.errors.CatalogError):
        db.protect("visits", place, unit="uid", max_rows=5, budget=BUDGET)


@pytest.mark.parametrize(
    "expression",
    [
        "GREATEST(x, x, x)",
        "LEAST(x, y, x)",
        "GREATEST(CASE WHEN x IS NULL THEN x ELSE x END, CAST(x AS DECIMAL(10, 2)), x)",
        "GREATEST(x, y, x, y, x + 0, COALESCE(x, x), IF(x > 1, x, x))",
    ],
)
def test_an_argument_that_is_named_twice_however_it_is_written(expression: str) -> None:
    """DuckDB failed on such a call for any data, once it had simplified the arguments."""
    table = pa.table({"uid": [1, 2, 2], "x": [1.0, None, 3.0], "y": [2.0, 1.0, None]})
    with jali.connect() as db, noise_off():
        db.protect("t", table, unit="uid", max_rows=2, budget=BUDGET, columns={"x": jali.Range(0, 9)})
        answer = db.ask(f"SELECT COUNT({expression}) FROM t", epsilon=1)
        assert answer.rows[0][0] == pytest.approx(3, abs=1)


def test_long_texts_of_one_person_that_are_joined_a_thousand_times() -> None:
    """An engine holds what it makes of thousands of rows at once: it ran out of memory if Bob was there."""
    texts = ["x", "🙂" * 16_000]
    plain, harsh = ([1, 2], ["x", "x"]), ([1, *[2] * 5000], ["x", *[texts[1]] * 5000])
    tables = [pa.table({"uid": uids, "note": notes}) for uids, notes in (plain, harsh)]
    with both(*tables) as db:
        check(db, f"SELECT COUNT(*) FROM {{t}} WHERE LENGTH(CONCAT({', '.join(['note'] * 1000)})) > 5")
        check(
            db, "SELECT COUNT(DISTINCT note || note), COUNT(DISTINCT UPPER(note)), COUNT(LEFT(note, 3)) FROM {t}"
        )
        check(db, "SELECT COUNT(*) FROM {t} a JOIN {t} b USING (uid) WHERE a.note || 'x' > b.note || a.note")
        check(db, f"SELECT COUNT(*) FROM {{t}} WHERE {' || '.join(['UPPER(note)'] * 40)} = 'x'", "refused")


def test_functions_that_make_a_text_take_texts_of_16384_bytes_and_others_all_texts() -> None:
    table = pa.table({"uid": [1, 2, 3], "note": ["a", "b" * 16_384, "c" * 16_385]})
    with both(table, table.slice(0, 2)) as db, noise_off():
        sql = (
            "SELECT COUNT(UPPER(note)), COUNT(RIGHT(note, 1)), COUNT(LENGTH(note)), COUNT(note || 'x') FROM plain"
        )
        assert db.ask(sql, epsilon=100).rows[0] == pytest.approx((2, 2, 3, 3), abs=1)
