"""No code decides by the text of an error: it asks for its class, its code and its fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from tests.errors.raising import SOURCE, modules

_TEXTS = {"message", "remedy", "sentence"}
# What looks into a text: methods of texts, and functions of `re`.
_LOOKS = {"startswith", "endswith", "partition", "rpartition", "split", "find", "index", "count", "removeprefix"}
_PATTERNS = {"match", "search", "fullmatch", "sub", "subn", "findall", "finditer", "split"}


def reads(tree: ast.Module) -> Iterator[int]:
    """Yield the lines on which the text of an error is looked into."""
    caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    for node in ast.walk(tree):
        if any(_is_text(each, caught) for each in _looked_into(node)):
            yield node.lineno  # type: ignore[attr-defined]  # an expression


def _looked_into(node: ast.AST) -> list[ast.expr]:
    """Return the expressions that a node looks into."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Match):
        return [node.subject]
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return []
    looked = [node.func.value] if node.func.attr in _LOOKS else []
    return looked + (list(node.args) if node.func.attr in _PATTERNS else [])


def _is_text(node: ast.expr, caught: set[str]) -> bool:
    """Say whether an expression is the text of an error."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr"):
        return any(isinstance(each, ast.Name) and each.id in caught for each in node.args)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("lower", "upper", "strip") and _is_text(node.func.value, caught)
    return isinstance(node, ast.Attribute) and node.attr in _TEXTS


def test_no_code_reads_the_text_of_an_error() -> None:
    found = [f"{path.relative_to(SOURCE)}:{line}" for path, tree in modules().items() for line in reads(tree)]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "if error.message.startswith('There is no '): pass",
        "re.match(r'There is no (\\w+)', error.message)",
        "_PATTERN.sub('', problem.remedy or '') if 'x' in problem.remedy else ''",
        "error.remedy == 'Give epsilon=0.1.'",
        "try:\n    ask()\nexcept JaliError as error:\n    if 'budget' in str(error).lower(): raise",
    ],
)
def test_code_that_does_is_found(code: str) -> None:
    assert list(reads(ast.parse(code)))
