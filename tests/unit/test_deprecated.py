"""Old spellings work for one release, and warn with the new one."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pkgutil import resolve_name
from typing import Any

import pytest

import jali
from jali.database import Database
from jali.deprecated import RENAMED

METHODS = {old: new for old, new in RENAMED.items() if old.startswith("jali.Database.")}
NAMES = {old: new for old, new in RENAMED.items() if old not in METHODS}
# Modules of an earlier release, each with a name that it had.
MODULES = {"jali.attacks": "Hadamard", "jali.audit": "Witness", "jali.noise": "DiscreteLaplace"}


def _read(old: str) -> Any:
    module, name = old.rsplit(".", 1)
    # A submodule that was imported elsewhere is an attribute already: ask as one would without that.
    return importlib.import_module(module).__getattr__(name)


@pytest.mark.whole
@pytest.mark.parametrize("old", NAMES)
def test_an_old_name_is_found_and_warns_with_the_new_one(old: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"^{old} .*{NAMES[old]}.*; the old spelling") as caught:
        found = _read(old)
    assert len(caught) == 1
    assert found is resolve_name(NAMES[old].removeprefix("import "))


@pytest.mark.whole
@pytest.mark.parametrize("old", METHODS)
def test_an_old_method_is_found_and_warns_with_the_new_one(old: str) -> None:
    owner, new = "jali.Database.", METHODS[old]
    said = f"{old.removeprefix('jali.')} is now {new.removeprefix('jali.')};"
    with jali.connect() as db:
        wanted = _use(db, new.removeprefix(owner))
        with pytest.warns(DeprecationWarning, match=re.escape(said)) as caught:
            found = _use(db, old.removeprefix(owner))
        (warning,) = caught
        assert warning.filename == __file__
        # Groups are made when they are asked for: their methods are the same functions.
        assert getattr(found, "__func__", found) == getattr(wanted, "__func__", wanted)


def _use(db: Database, path: str) -> Any:
    found: Any = db
    for name in path.removesuffix("()").split("."):
        found = getattr(found, name)
    return found() if path.endswith("()") else found


def test_what_never_was_a_name_is_none() -> None:
    with jali.connect() as db, pytest.raises(AttributeError, match="'Database' object has no attribute 'nothing'"):
        db.nothing  # type: ignore[attr-defined]  # noqa: B018 - the access is the test
    with pytest.raises(AttributeError, match="module 'jali' has no attribute 'nothing'"):
        jali.nothing  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError):
        from jali import nothing  # type: ignore[attr-defined]  # noqa: F401


def test_no_old_name_is_public_still() -> None:
    assert not {old for old in NAMES if resolve_name(old.rsplit(".", 1)[0]).__dir__().count(old.rsplit(".", 1)[1])}
    assert not {old for old in METHODS if not old.endswith("()") and old.rsplit(".", 1)[1] in dir(Database)}


@pytest.mark.whole
@pytest.mark.parametrize(("module", "name"), MODULES.items())
def test_a_renamed_module_can_be_imported_and_its_names_warn(module: str, name: str) -> None:
    old = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=f"{module} is now {RENAMED[module]}"):
        found = getattr(old, name)
    assert found is resolve_name(f"{RENAMED[module]}.{name}")
    with pytest.raises(AttributeError):
        old.nothing  # noqa: B018


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr.strip().splitlines()[-1] if done.returncode else done.stdout


@pytest.mark.whole
@pytest.mark.parametrize(
    "code",
    [
        "import jali.plots, jali.local; jali.plots.profiles; jali.local.Warner",
        "from jali import plots, local; plots.profiles; local.Warner",
        "import jali; jali.errors.QueryError",
        "from jali import errors, lab; errors.QueryError; lab.attacks.Hadamard",
        "import jali; jali.lab.compare.compare",
        "from jali.mechanisms import additive, base; base.Specimen",
    ],
)
def test_new_spellings_do_not_warn_in_a_fresh_process(code: str) -> None:
    assert _run(code) == ""


@pytest.mark.whole
@pytest.mark.parametrize(
    ("code", "new"),
    [
        ("import jali; jali.plots", "import jali.plots"),
        ("from jali.mechanisms import Specimen", "jali.mechanisms.base.Specimen"),
        ("from jali import QueryError", "jali.errors.QueryError"),
        ("from jali import compare", "jali.lab.compare.compare"),
        ("from jali.attacks import Hadamard", "jali.lab.attacks"),
        ("from jali import attacks; attacks.Hadamard", "jali.lab.attacks"),
    ],
)
def test_old_spellings_warn_in_a_fresh_process(code: str, new: str) -> None:
    said = _run(code)
    assert said.startswith("DeprecationWarning: jali.")
    assert new in said
