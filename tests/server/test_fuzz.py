"""Requests made up from the OpenAPI document find no 5xx; and neighbouring data make no difference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from tests.depth import DEPTH
from tests.parquet import write_parquet
from tests.server.serving import Place, served

import jali
from jali.server.app import make_app


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with served(tmp_path_factory.mktemp("fuzzed")) as place:
        yield place


def _operations() -> dict[str, Any]:
    """Return every operation of the OpenAPI document, by its name."""
    with jali.connect() as database:
        document = make_app(database).openapi()
    found: Any = schemathesis.openapi.from_dict(document).get_all_operations()
    return {one.ok().label: one.ok() for one in found}


OPERATIONS = _operations()


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_no_request_is_answered_with_a_5xx(name: str, fuzzed: Place) -> None:
    @given(case=OPERATIONS[name].as_strategy())
    @settings(
        max_examples=2 * DEPTH,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def try_one(case: Any) -> None:
        for caller in ("ana", "cara"):
            _check(fuzzed, caller, case)

    try_one()


def _check(place: Place, caller: str, case: Any) -> None:
    method, path = case.method, case.formatted_path
    sent = {} if method in ("GET", "DELETE") else {"json": _sent(case.body)}
    with place.client(caller) as client:
        try:
            response = client.request(method, path, params=case.query or None, **sent)
        except (httpx.InvalidURL, UnicodeError, ValueError, httpx.LocalProtocolError):
            return  # what cannot be sent is not answered
    assert response.status_code < 500, (method, path, sent, response.text)
    if response.status_code >= 400:
        assert {"type", "message", "remedy", "position"} <= set(response.json()["error"])


def _sent(body: Any) -> Any:
    """Return a body that JSON can write; where schemathesis leaves it out, an empty one."""
    return body if isinstance(body, dict | list | str | int | float | bool) else {}


ROWS = """SELECT (i % 97)::INTEGER AS patient_id, (20 + i % 60)::INTEGER AS age,
    ['A', 'B', 'C', 'D'][1 + (i % 4)::INTEGER] AS ward, (i % 1000) / 10.0::DOUBLE AS cost FROM range(500) t(i)"""
# One more person, whose values are as odd as values can be.
ODD = "UNION ALL SELECT 1000000, NULL, NULL, 'NaN'::DOUBLE UNION ALL SELECT 1000000, 2147483647, 'Z', 1e308"
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1},
    {"sql": "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward", "epsilon": 1},
    {"sql": "SELECT SUM(cost / (age - 20)) FROM visits", "epsilon": 1},
    {"sql": "SELECT MEDIAN(age), SUM(cost) FROM visits WHERE ward = 'Z'", "epsilon": 1},
    {"sql": "SELECT COUNT(*) FROM visits WHERE CAST(ward AS INTEGER) = 1", "epsilon": 1},
    {"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "epsilon": 1000},
    {"sql": "SELECT COUNT(*) FROM nowhere", "epsilon": 1},
    {"sql": "SELECT AVG(nothing) FROM visits", "epsilon": 1},
    {"sql": "SELECT age FROM visits", "epsilon": 1},
)


def shape(value: Any) -> Any:
    """Return a document without its numbers, identities and times."""
    if isinstance(value, dict):
        hidden = {"receipt", "at", "intervals", "rows", "sampling_errors", "text", "fraction", "interval"}
        return {name: type(held).__name__ if name in hidden else shape(held) for name, held in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    return "number" if isinstance(value, float) else value


def asked(directory: Path, rows: str) -> list[Any]:
    """Ask everything of one clinic, and return all that could be seen but the noise."""
    directory.mkdir()
    write_parquet(rows, directory / "visits.parquet")
    found: list[Any] = []
    with served(directory) as place, place.client("ana") as ana, place.client("cara") as cara:
        for document in QUESTIONS:
            for path in ("explain", "ask"):
                response = ana.post(f"/api/v1/{path}", json=document)
                told = response.json()
                found.append((response.status_code, sorted(response.headers), shape(told)))
                if "rows" in told:
                    found.append([[type(cell).__name__ for cell in row] for row in told["rows"]])
        listed = ("tables", "budgets", "receipts", "trail", "tokens")
        found += [shape(_without_ids(cara.get(f"/api/v1/{path}").json())) for path in listed]
        found.append(cara.get("/metrics").text)
    return found


def _without_ids(told: Any) -> Any:
    if isinstance(told, dict):
        secret = {"token", "receipt", "at", "made", "expires", "about"}
        return {name: "" if name in secret else _without_ids(held) for name, held in told.items()}
    return [_without_ids(one) for one in told] if isinstance(told, list) else told


def test_one_person_more_changes_nothing_but_noisy_numbers(tmp_path: Path) -> None:
    without, with_one = asked(tmp_path / "a", ROWS), asked(tmp_path / "b", f"{ROWS} {ODD}")
    assert without == with_one
    assert any(isinstance(one, tuple) and one[0] == 402 for one in without)
    assert sum(isinstance(one, tuple) and one[0] == 200 for one in without) >= 9
