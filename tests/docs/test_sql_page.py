"""docs/sql.md is complete and true: what it says is answered is answered, and what is refused is refused so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import sqlglot
from sqlglot import exp
from tests.docs.sessions import DOCS

import jali
from jali.ir.expressions import Aggregate, Call, walk
from jali.ir.functions import FUNCTIONS, Function
from jali.ir.functions.aggregate_functions import AGGREGATES, AggregateFunction
from jali.mechanisms.workloads.cell_strategies import MeasuredCells
from jali.sql.reader.read_aggregate import REFUSED, is_aggregate
from jali.sql.reader.read_function import REFUSED_FUNCTIONS, is_function
from jali.sql.reader.read_select import read_value

PAGE = (DOCS / "sql.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
Row = dict[str, str]


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _rows(first: str) -> list[Row]:
    """Return the rows of all tables whose first column is called so, by the names of their columns."""
    found, header = list[Row](), list[str]()
    for before, line in zip(["", *PAGE.splitlines()], PAGE.splitlines(), strict=False):
        if line.startswith("|---"):
            header = _cells(before)
        elif not line.startswith("|"):
            header = []
        elif header and header[0] == first:
            found.append(dict(zip(header, _cells(line), strict=True)))
    return found


def _code(cell: str) -> str:
    assert re.fullmatch("`[^`]+`", cell), cell
    return cell.strip("`")


def _asked(row: Row) -> dict[str, Any]:
    """Read settings such as `delta=1e-9, max_groups=1`."""
    settings = _code(row["Asked with"]).split(", ") if "Asked with" in row else []
    pairs = (setting.split("=") for setting in settings)
    return {"epsilon": 1} | {name: None if value == "None" else float(value) for name, value in pairs}


def _exactly(settings: dict[str, Any]) -> dict[str, Any]:
    whole = ("max_groups", "min_people")
    return {name: int(value) if name in whole else value for name, value in settings.items()}


def _identity(row: Row) -> str:
    return row.get("Example") or next(iter(row.values()))


ANSWERED = _rows("Answered")
CALLS = _rows("Function")
AGGREGATED = _rows("Aggregate")
DECLINED = _rows("Refused")
REFUSALS = _rows("Refused functions") + _rows("Refused aggregates")
SPELLINGS = _rows("Also written")


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    """The tables that the page declares."""
    names: dict[str, Any] = {}
    for text in BLOCKS:
        exec(compile(text, "docs/sql.md", "exec"), names)
    found = names["db"]
    assert isinstance(found, jali.Database)
    yield found
    found.close()


def test_the_page_has_examples_of_everything() -> None:
    assert len(ANSWERED) >= 60
    assert len(DECLINED) >= 60
    assert len(BLOCKS) == PAGE.count("```") / 2 == 2


@pytest.mark.parametrize("row", ANSWERED, ids=_identity)
def test_what_the_page_answers_is_answered(row: Row, db: jali.Database) -> None:
    answer = db.ask(_code(row["Example"]), **_exactly(_asked(row)))
    assert answer.columns
    assert len(answer.interval()) == len(answer.rows)


@pytest.mark.parametrize("row", DECLINED, ids=_identity)
def test_what_the_page_refuses_is_refused_in_these_words_and_costs_nothing(row: Row, db: jali.Database) -> None:
    before = db.receipts()
    with pytest.raises(jali.errors.QueryError) as refusal:
        db.ask(_code(row["Example"]), **_exactly(_asked(row)))
    assert row["It says"]
    assert row["It says"] in refusal.value.message
    assert refusal.value.position is not None
    assert refusal.value.remedy
    assert db.receipts() == before


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_is_described_and_its_example_uses_it(function: Function, db: jali.Database) -> None:
    (row,) = (row for row in CALLS if _code(row["Function"]) == function.shape)
    assert row["NULL"] == function.nulls
    assert row["Range of the result"]
    assert row["After noise"] == ("yes" if function.after else "no")
    example = _code(row["Example"])
    assert function.name in {node.function for node in walk(read_value(example)) if isinstance(node, Call)}
    assert len(db.ask(f"SELECT COUNT({example}) FROM visits", epsilon=1).rows) == 1


def test_the_page_lists_exactly_the_functions_there_are() -> None:
    assert [_code(row["Function"]) for row in CALLS] == [function.shape for function in FUNCTIONS.values()]


def _noise(mechanism: object) -> object:
    return mechanism.noise if isinstance(mechanism, MeasuredCells) else getattr(mechanism, "joint", mechanism)


@pytest.mark.parametrize("aggregate", AGGREGATES.values(), ids=AGGREGATES)
def test_an_aggregate_is_released_as_described(aggregate: AggregateFunction, db: jali.Database) -> None:
    (row,) = (row for row in AGGREGATED if _code(row["Aggregate"]) == aggregate.shape)
    question = _code(row["Example"])
    (asked,) = (a for a, _ in db.explain(question, epsilon=1).estimates)
    assert isinstance(asked, Aggregate)
    assert asked.function == aggregate.name
    losses: dict[str, Any] = {"With `epsilon`": {"epsilon": 1}, "With `rho`": {"rho": 1}}
    for column, loss in losses.items():
        (level,) = db.explain(question, **loss).levels
        mechanisms = {
            # Measures that leave together have one noise, and so have the sums that a strategy measures.
            type(_noise(mechanism)).__name__
            for part in level.parts
            for mechanism in part.mechanisms
        }
        assert mechanisms == {_code(row[column])}
    ((interval,),) = db.ask(question, epsilon=1).interval()
    assert (row["Interval"] == "none") == (interval is None)


def test_the_page_lists_exactly_the_aggregates_there_are() -> None:
    assert [_code(row["Aggregate"]) for row in AGGREGATED] == [a.shape for a in AGGREGATES.values()]


def test_the_page_lists_exactly_what_is_refused_by_name_with_its_reason() -> None:
    for first, reasons in (("Refused functions", REFUSED_FUNCTIONS), ("Refused aggregates", REFUSED)):
        listed = {name: row["Why"] for row in _rows(first) for name in re.findall(r"`(\w+)`", row[first])}
        assert listed == reasons


@pytest.mark.parametrize("row", REFUSALS, ids=_identity)
def test_a_refused_function_is_refused_for_this_reason(row: Row, db: jali.Database) -> None:
    with pytest.raises(jali.errors.Unsupported) as refusal:
        db.ask(_code(row["Example"]), epsilon=1)
    assert row["Why"] in refusal.value.message


@pytest.mark.parametrize("name", sorted({*REFUSED_FUNCTIONS, *REFUSED}))
def test_every_name_that_is_refused_is_refused_as_a_call(name: str, db: jali.Database) -> None:
    with pytest.raises(jali.errors.QueryError):
        db.explain(f"SELECT COUNT({name}(note)) FROM visits", epsilon=1)


@pytest.mark.parametrize("row", SPELLINGS, ids=lambda row: _code(row["Also written"]))
def test_another_spelling_is_read_as_the_first(row: Row) -> None:
    assert read_value(_code(row["Also written"])) == read_value(_code(row["The same as"]))


def _examples() -> list[str]:
    whole = [_code(row["Example"]) for row in [*ANSWERED, *AGGREGATED] if "=>" not in row["Example"]]
    parts = [_code(row["Example"]) for row in CALLS]
    parts += [_code(cell) for row in SPELLINGS for cell in row.values()]
    return [q for q in whole if "DIFFERENTIAL_PRIVACY" not in q] + [f"SELECT {part}" for part in parts]


def test_every_node_of_sqlglot_that_is_read_occurs_in_an_example() -> None:
    """A function or an aggregate that the reader learns must come to the page."""
    seen = {type(node) for text in _examples() for node in sqlglot.parse_one(text, read="duckdb").walk()}
    read = {kind for kind in vars(exp).values() if isinstance(kind, type) and issubclass(kind, exp.Expression)}
    known = {kind for kind in read - {exp.Anonymous} if is_aggregate(kind()) or is_function(kind())}
    assert len(known) > 80
    assert {kind.__name__ for kind in known - seen} == set()


@pytest.mark.parametrize("page", sorted(set(re.findall(r"\(([\w/]+\.md)\)", PAGE))))
def test_the_pages_it_leads_to_exist(page: str) -> None:
    assert (DOCS / page).is_file()
