"""Public tables, and the words of refusals that name columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import jali

VISITS = pa.table({"patient_id": [1, 2, 3], "ward": ["A", "B", "A"], "age": [30, 40, 50]})
PATIENTS = pa.table({"id": [1, 2, 3], "sex": ["f", "m", "f"]})


@pytest.fixture
def db() -> jali.Database:
    made = jali.connect()
    budget = jali.Budget(1000)
    keys: dict[str, jali.Keys | jali.Range] = {"ward": jali.Keys(["A", "B"]), "age": jali.Range(0, 120)}
    made.protect("visits", VISITS, unit="patient_id", max_rows=2, columns=keys, budget=budget)
    made.protect("patients", PATIENTS, unit="id", max_rows=1, budget=budget)
    return made


def test_the_kinds_of_a_public_csv_file_are_declared(db: jali.Database, tmp_path: Path) -> None:
    file = tmp_path / "wards.csv"
    file.write_text("name,floor,opened\nA,1,2020-01-31\nB,2,2021-01-31\n")
    text = {field.name: field for field in db.publish("wards", file).fields}
    assert text["floor"].keys == jali.Keys(["1", "2"])
    made = db.publish("wards", file, kinds={"floor": "integer", "opened": "date"})
    typed = {field.name: field for field in made.fields}
    assert typed["floor"].keys == jali.Keys([1, 2])
    assert typed["floor"].range == jali.Range(1, 2)
    sql = "SELECT floor, COUNT(*) AS n, AVG(floor) AS f FROM visits JOIN wards ON ward = name GROUP BY floor"
    assert [row[0] for row in db.ask(sql, epsilon=100).rows] == [1, 2]
    with pytest.raises(jali.errors.CatalogError, match="no column nope"):
        db.publish("wards", file, kinds={"nope": "integer"})


@pytest.mark.parametrize(
    ("sql", "said", "remedy"),
    [
        ("SELECT COUNT(*) FROM visits WHERE agee > 3", "Table visits has no column agee", "Did you mean age?"),
        (
            "SELECT COUNT(*) FROM visits JOIN patients ON visits.id = patients.id",
            "Table visits has no column id",
            "Its columns are patient_id, ward, age.",
        ),
        (
            "SELECT COUNT(*) FROM visits JOIN patients ON sex = ward",
            "same person",
            "visits.patient_id = patients.id",
        ),
        ("SELECT COUNT(*) FROM visits GROUP BY LENGTH(sex)", "no column sex", "Its columns are"),
    ],
)
def test_a_refusal_names_the_table_its_columns_and_the_nearest_one(
    db: jali.Database, sql: str, said: str, remedy: str
) -> None:
    with pytest.raises(jali.errors.QueryError) as refused:
        db.explain(sql, epsilon=1)
    assert said in refused.value.message
    assert remedy in (refused.value.remedy or "")


def test_a_range_is_not_bought_for_fewer_rows_than_it_needs() -> None:
    with jali.connect() as db:
        budget = jali.Budget(epsilon=1)
        auto = {"age": jali.Range(auto=True)}
        with pytest.raises(jali.errors.CatalogError, match="needs about"):
            db.protect("visits", VISITS, unit="patient_id", max_rows=2, columns=auto, budget=budget, rows=40)
        assert db.tables.list() == ()
        assert db.receipts() == ()
