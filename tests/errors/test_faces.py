"""Twenty typical mistakes have one code and text in Python, on the command line, over HTTP and at a server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.database.clinic import make_visits
from tests.depth import whole
from tests.server.serving import Place, served

import jali
from jali.cli import main
from jali.errors import BudgetExceeded, Face, JaliError
from jali.errors.fields import encode_field
from jali.session import Session

EACH = {"epsilon": "0.1"}


@dataclass(frozen=True)
class Mistake:
    """A question that is refused.

    Attributes:
        code: The code of the error.
        sql: The question.
        terms: How it is asked.
        told: What the command line says, where it says something else than Python.
    """

    code: str
    sql: str
    terms: Mapping[str, Any] = field(default_factory=lambda: EACH)
    told: str = ""

    @property
    def options(self) -> list[str]:
        """How the command line asks it."""
        return [word for name, value in self.terms.items() for word in _option(name, value)]


def _option(name: str, value: Any) -> Iterator[str]:
    for each in value.items() if isinstance(value, dict) else [("", value)]:
        yield f"--{name.replace('_', '-')}"
        yield f"{each[0]}={each[1]}" if each[0] else str(each[1])


COUNT = "SELECT COUNT(*) AS n FROM visits"
MISTAKES = (
    Mistake("select-misspelt", "SELEC COUNT(*) FROM visits"),
    Mistake("not-a-select", "DELETE FROM visits"),
    Mistake("several-statements", f"{COUNT}; {COUNT}", told="together: jali batch {database} FILE."),
    Mistake("protected-table-unknown", "SELECT COUNT(*) FROM nothing"),
    Mistake("column-unknown", "SELECT foo FROM visits"),
    Mistake("select-star", "SELECT * FROM visits"),
    Mistake("no-aggregate", "SELECT age FROM visits"),
    Mistake("aggregate-nested", "SELECT SUM(COUNT(*)) FROM visits"),
    Mistake("function-unsupported", "SELECT MYSTERY(age) FROM visits"),
    Mistake("argument-kinds-wrong", "SELECT COUNT(*) FROM visits WHERE ward > 5"),
    Mistake("group-by-unit", "SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id"),
    Mistake("range-undeclared", "SELECT SUM(cost) FROM plain", told="jali protect ... --range cost=LOW:HIGH"),
    Mistake("keys-undeclared", "SELECT ward, COUNT(*) FROM plain GROUP BY ward", told="--keys ward=A,B,..."),
    Mistake("loss-missing", COUNT, {}, told="Give --epsilon 0.1, or --rho 0.005 for Gaussian noise"),
    Mistake("parameter-not-positive", COUNT, {"epsilon": "-1"}),
    Mistake("budget-exceeded", COUNT, {"epsilon": "1000"}, told="does not cover this question."),
    Mistake("delta-outside", COUNT, EACH | {"delta": "2"}, told="Give --delta 1e-9, for example."),
    Mistake(
        "within-and-loss",
        COUNT,
        EACH | {"within": "20"},
        told="--within cannot be combined with --epsilon or --rho",
    ),
    Mistake("within-not-an-aggregate", COUNT, {"within": {"m": "20"}}, told="--within names m"),
    Mistake("part-unknown", COUNT, EACH | {"part": {"ward": "Z"}}),
    Mistake(
        "grant-missing", "SELECT COUNT(*) FROM closed", told="jali grant {database} ana closed --epsilon NUMBER"
    ),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    directory = tmp_path_factory.mktemp("clinic")
    with served(directory) as made:
        for name in ("plain", "closed"):
            source = make_visits(directory / f"{name}.parquet")
            made.database.protect(name, source, unit="patient_id", max_rows=5, budget=jali.Budget(1))
        made.database.grant("ana", "plain", jali.Budget(1))
        yield made


@pytest.fixture
def there(place: Place) -> Session:
    return jali.connect(place.address, token=place.tokens["ana"])


@whole
@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.code for mistake in MISTAKES])
def test_a_mistake_is_the_same_on_every_face(
    mistake: Mistake, place: Place, there: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(JaliError) as caught:
        place.database.session("ana").ask(mistake.sql, **mistake.terms)
    here = caught.value
    assert here.code == mistake.code
    check_afar(mistake, here, there)
    check_http(mistake, here, place)
    check_command_line(mistake, here, place, capsys)


def check_afar(mistake: Mistake, here: JaliError, there: Session) -> None:
    """A session at a server raises the same error."""
    with pytest.raises(JaliError) as afar:
        there.ask(mistake.sql, **mistake.terms)
    assert (type(afar.value), afar.value.code, str(afar.value)) == (type(here), here.code, str(here))
    assert (afar.value.message, afar.value.remedy) == (here.message, here.remedy)
    assert (afar.value.position, dict(afar.value.fields)) == (here.position, dict(here.fields))


def check_http(mistake: Mistake, here: JaliError, place: Place) -> None:
    """The body of the response has its code, fields and text."""
    with place.client("ana") as client:
        told = client.post("/api/v1/ask", json={"sql": mistake.sql, **mistake.terms}).json()["error"]
    assert {name: told[name] for name in ("code", "type", "position", "fields")} == as_data(here)
    assert told["remedy"] == here.remedy
    assert here.message.startswith(told["message"])
    assert isinstance(here, BudgetExceeded) or told["message"] == here.message


def check_command_line(
    mistake: Mistake, here: JaliError, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line has the same in its words, for programs and for people."""
    database = Path(place.app.state.jali.settings.data) / "clinic.jali"
    arguments = ["ask", str(database), mistake.sql, *mistake.options, "--analyst", "ana"]
    assert main([*arguments, "--json"]) > 1
    told = json.loads(capsys.readouterr().out)["error"]
    assert {name: told[name] for name in ("code", "type", "position", "fields")} == as_data(here)
    words = here.write(
        Face.COMMAND_LINE, asked={"asked_database": str(database), "asked_analyst": " --analyst ana"}
    )
    assert (told["message"], told["remedy"]) == (words.message, words.remedy)
    said = f"{words.message} {words.remedy}"
    assert mistake.told.format(database=database) in said
    assert bool(mistake.told) == (said != f"{here.message} {here.remedy}")
    assert main(arguments) > 1
    shown = capsys.readouterr().err
    for part in filter(None, words.__dict__.values() if not isinstance(here, BudgetExceeded) else [words.message]):
        assert _in_one_line(part) in _in_one_line(shown)


def as_data(error: JaliError) -> dict[str, Any]:
    """What an error is for programs."""
    position = None if error.position is None else list(error.position)
    fields = {name: encode_field(value) for name, value in error.fields.items()}
    return {"code": error.code, "type": type(error).__name__, "position": position, "fields": fields}


def _in_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
