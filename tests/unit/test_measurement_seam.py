"""No module above `mechanisms` tests which mechanism it has: it asks the mechanism."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import jali
from jali.mechanisms.base import Mechanism
from jali.mechanisms.measurement import Measurement
from jali.mechanisms.partition_selection.group_selection import GroupSelection
from jali.mechanisms.workloads.cell_strategies import CellStrategy

SOURCE = Path(jali.__file__).parent
FAMILIES = (Mechanism, Measurement, GroupSelection, CellStrategy)
# Where a concrete class may be tested, and why; at most five.
EXCEPTIONS = {
    "lab/audit/broken/broken_data_dependent.py": "a broken mechanism says which honest one it copies",
}


def modules() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if "mechanisms" not in path.relative_to(SOURCE).parts]


def asked_for(tree: ast.AST) -> Iterator[str]:
    """Yield the names of the classes that a module tests for, in calls and in patterns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
            asked = node.args[1] if node.func.id in {"isinstance", "issubclass"} else ast.Pass()
            yield from (n.id for n in ast.walk(asked) if isinstance(n, ast.Name))
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name):
            yield node.cls.id
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
            kind = isinstance(node.left.func, ast.Name) and node.left.func.id == "type"
            yield from (n.id for n in node.comparators if kind and isinstance(n, ast.Name))


def concrete(module: ModuleType, name: str) -> bool:
    """Say whether a name of a module is a mechanism that can be made, and not a family of them."""
    found = getattr(module, name, None)
    if not isinstance(found, type) or not found.__module__.startswith("jali.mechanisms"):
        return False
    return issubclass(found, FAMILIES) and not inspect.isabstract(found)


def found_in(path: Path) -> list[str]:
    names = sorted(set(asked_for(ast.parse(path.read_text(encoding="utf-8")))))
    if not names:
        return []
    dotted = ".".join(("jali", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    module = importlib.import_module(dotted)
    return [name for name in names if concrete(module, name)]


def test_no_module_above_the_mechanisms_tests_for_a_concrete_one() -> None:
    skipped = {"__main__.py"}
    found = {
        str(path.relative_to(SOURCE)): names
        for path in modules()
        if path.name not in skipped and (names := found_in(path))
    }
    assert set(found) == set(EXCEPTIONS), found
    assert len(EXCEPTIONS) <= 5


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(x, Laplace)",
        "isinstance(x, Gaussian | Laplace)",
        "type(x) is Laplace",
        "match x:\n case Laplace(): ...",
    ],
)
def test_the_rule_sees_such_a_test(code: str) -> None:
    import jali.mechanisms

    names = set(asked_for(ast.parse(code)))
    assert any(concrete(jali.mechanisms, name) for name in names)
