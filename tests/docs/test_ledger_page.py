"""docs/ledger.md is true: its codes and tags are all there are, and what it says of copies happens."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.database.clinic import open_clinic

import jali
from jali.cli import main
from jali.errors.templates import load_texts
from jali.execution.streams.stream_declaration import build_stream_schema
from jali.ledger.ledger_opening import open_ledger
from jali.ledger.recover import recover
from jali.planner import PLANS
from jali.planner.batch import BATCHES
from jali.serialization.schema import READ

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ledger.md").read_text()
COUNT = "SELECT COUNT(*) FROM visits WHERE age > {}"


def test_codes_begin_with_what_the_table_of_errors_lists() -> None:
    rows = re.findall(r"^\| (`[^|]+`) \|", PAGE[PAGE.index("## Errors") :], re.MULTILINE)
    listed = re.findall(r"`([a-z-]+)`", " ".join(rows))
    assert len(listed) > 10
    assert [
        row for row in listed if not any(code == row or code.startswith(f"{row}-") for code in load_texts())
    ] == []


def test_an_older_copy_in_the_place_of_the_ledger_is_refused_until_it_is_recovered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, backup = tmp_path / "clinic.jali", tmp_path / "backup.jali"
    with open_clinic(tmp_path, epsilon=1) as db:
        db.ask(COUNT.format(1), epsilon="1/10")
    shutil.copy(place, backup)
    with open_clinic(tmp_path, epsilon=1) as db:
        db.ask(COUNT.format(2), epsilon="1/2")
    shutil.copy(backup, place)
    assert main(["ask", str(place), COUNT.format(3), "--epsilon", "0.5"]) == 5
    assert "does not match its anchor" in capsys.readouterr().err
    assert main(["verify", str(backup)]) == 0
    assert "Note" in capsys.readouterr().out
    with pytest.raises(jali.errors.LedgerError) as missing:
        jali.connect(backup)
    assert missing.value.code == "anchor-missing"
    with open_ledger(place, create=False, checked=False) as ledger:
        recover(ledger)
    with jali.connect(place) as db:
        assert str(db.ledger.accounts()[0].spent) == "epsilon 0.6"


def test_every_command_of_the_page_is_one() -> None:
    """The words after `jali` are verbs, and the options are theirs."""
    verbs = set(re.findall(r"^## jali (\w+)", (ROOT / "docs" / "cli.md").read_text(), re.MULTILINE))
    assert set(re.findall(r"^\$? ?jali (\w+)", PAGE, re.MULTILINE)) <= verbs


def test_every_tag_of_a_stored_type_is_in_the_table_and_no_other() -> None:
    types = {*BATCHES.types, *build_stream_schema().types}
    section = PAGE[PAGE.index("## Tags and versions") : PAGE.index("## The anchor")]
    rows = re.findall(r"^\| [a-z ]+ \| (`.+`) \|$", section, re.MULTILINE)
    told = re.findall(r"`(\w+)`", " ".join(rows))
    assert sorted(told) == sorted([*READ, *(tag for one in types for tag in (one.tag, *one.aliases))])


def test_the_example_of_a_stored_type_is_one() -> None:
    (shown,) = re.findall(r"^```json\n(.*)\n```$", PAGE, re.MULTILINE)
    assert json.loads(PLANS.encode(jali.Range(0, 120))) == json.loads(shown)
