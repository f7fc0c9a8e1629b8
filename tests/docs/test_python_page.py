"""Every public name is documented, and every example runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from tests.parquet import write_parquet

import jali
from jali.database import Database
from jali.database_groups import DatabaseLedger, DatabaseStreams, DatabaseTables
from jali.session import Session

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text()
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(jali.__path__, "jali.") if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", jali.__all__)
def test_every_public_name_is_on_the_page(name: str) -> None:
    assert re.search(rf"`(jali\.)?{name}\b", PAGE)
    assert getattr(jali, name) is not None


def test_there_are_at_most_24_public_names() -> None:
    assert 14 <= len(jali.__all__) <= 24
    assert set(dir(jali)) == set(jali.__all__)
    with pytest.raises(AttributeError):
        jali.nothing  # type: ignore[attr-defined]  # noqa: B018 - the access is the test


def _methods(kind: type) -> set[str]:
    return {name for name, held in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


def test_the_everyday_path_has_about_twenty_methods() -> None:
    groups = {"tables", "streams"}  # of a session, they are lists
    assert len((_methods(Database) | _methods(Session)) - groups) <= 20
    assert {name for name in vars(Database) if isinstance(vars(Database)[name], property) and name[0] != "_"} == {
        *groups,
        "access",
        "ledger",
        "serving",
    }


@pytest.mark.parametrize(
    "name",
    [
        *sorted(_methods(Database) | _methods(Session)),
        *(f"db.{group}" for group in ("tables", "streams", "ledger", "access")),
        *sorted(_methods(DatabaseTables) | _methods(DatabaseStreams) | _methods(DatabaseLedger)),
    ],
)
def test_every_method_of_a_database_is_on_the_page(name: str) -> None:
    assert re.search(rf"`{re.escape(name)}\b", PAGE)


@pytest.mark.parametrize("page", sorted(page.name for page in (ROOT / "docs").glob("*.md")))
def test_the_readme_leads_to_every_page(page: str) -> None:
    assert (ROOT / "docs" / page).is_file()
    assert page in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_every_module_run(name: str) -> None:
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip()
    # Looking for examples takes longer than most of them do.
    if ">>>" in inspect.getsource(module):
        assert doctest.testmod(module).failed == 0


def test_the_examples_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    visits = "SELECT i % 9 AS patient_id, 20 + i % 60 AS age, 'A' AS ward, 'flu' AS diagnosis FROM range(99) t(i)"
    write_parquet(visits, Path("visits.parquet"))
    write_parquet("SELECT i AS id, 'f' AS sex FROM range(9) t(i)", Path("patients.parquet"))
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 4
    space: dict[str, object] = {}
    for block in blocks:
        if block.startswith(">>>"):
            parsed = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
            assert doctest.DocTestRunner().run(parsed).failed == 0
        else:
            exec(compile(block, "README.md", "exec"), space)
