"""Where the package makes errors and phrases, and with which codes and fields: read off its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeGuard

import jali
from jali.errors import JaliError, Phrase
from jali.errors.templates import ADVICE, load_texts

SOURCE = Path(jali.__file__).parent
# Made by a constructor of its own.
_OWN = {"BudgetExceeded"}
# What every error may be given besides the fields of its text.
_BESIDES = {"position", ADVICE}


@dataclass(frozen=True)
class Maker:
    """A class or function that is given a code and fields.

    Attributes:
        place: Which argument the code is.
        besides: The names of its other parameters.
        home: The module that it must be imported from, where its name alone is not enough.
        makes: The class of what it makes.
    """

    place: int
    besides: frozenset[str]
    home: str = ""
    makes: str = ""


@dataclass(frozen=True)
class Making:
    """One place where an error or a phrase is made.

    Attributes:
        where: File and line.
        codes: The codes that it may have.
        fields: The names of the fields that it is given.
        more: Whether it is given others that are not written there.
        forwards: Whether its code is one that its function was given, or that of another error.
        makes: The class of what is made.
    """

    where: str
    codes: tuple[str, ...]
    fields: frozenset[str]
    more: bool = False
    forwards: bool = False
    makes: str = ""


def _classes(kind: type[JaliError] = JaliError) -> Iterator[str]:
    yield kind.__name__
    for each in kind.__subclasses__():
        yield from _classes(each)


@cache
def modules() -> Mapping[Path, ast.Module]:
    """Return all modules but those of the package of errors."""
    found = sorted(path for path in SOURCE.rglob("*.py") if SOURCE / "errors" not in path.parents)
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in found}


@cache
def makers() -> Mapping[str, Maker]:
    """Return what is given a code: classes of errors, phrases, and functions `(..., code, /, ...)`."""
    kinds = [name for name in (*_classes(), Phrase.__name__) if name not in _OWN]
    found = {name: Maker(0, frozenset(_BESIDES), makes=name) for name in kinds}
    for path, tree in modules().items():
        for name, node in _functions(tree):
            if _forwards(node):
                names = [each.arg for each in node.args.posonlyargs if each.arg != "self"]
                others = [each.arg for each in (*node.args.args, *node.args.kwonlyargs) if each.arg != "self"]
                place = names.index("code") if "code" in names else 0
                home = ".".join(("jali", *path.relative_to(SOURCE).with_suffix("").parts))
                made = name if name[0].isupper() else ast.unparse(node.returns) if node.returns else ""
                besides = frozenset({*names, *others, *_BESIDES})
                found[name] = Maker(place, besides, home if name[0].isupper() else "", made)
    return found


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield every function with the name by which it is called: that of its class for a constructor."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from ((node.name, each) for each in node.body if _is_constructor(each))
        if isinstance(node, ast.FunctionDef) and not _is_constructor(node):
            yield node.name, node


def _is_constructor(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and node.name == "__init__"


def _forwards(node: ast.FunctionDef) -> bool:
    return "code" in [each.arg for each in node.args.posonlyargs]


def makings() -> Iterator[Making]:
    """Yield every place where an error or a phrase is made."""
    for path, tree in modules().items():
        for function, call in _calls(tree):
            name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
            maker = makers().get(name)
            if maker is None or len(call.args) <= maker.place or not _is_known(maker, name, path, tree):
                continue
            where = f"{path.relative_to(SOURCE)}:{call.lineno}"
            code = call.args[maker.place]
            given = (
                isinstance(code, ast.Name) and code.id == "code" and function is not None and _forwards(function)
            )
            if given or (isinstance(code, ast.Attribute) and code.attr == "code"):
                yield Making(where, (), frozenset(), forwards=True)
                continue
            names = frozenset(each.arg for each in call.keywords if each.arg is not None)
            more = len(names) < len(call.keywords)
            codes = tuple(_codes(code, tree))
            yield Making(where, codes, names - maker.besides, more=more, makes=maker.makes)


def _is_known(maker: Maker, name: str, path: Path, tree: ast.Module) -> bool:
    """Say whether a module has this maker, and not another of its name."""
    here = ".".join(("jali", *path.relative_to(SOURCE).with_suffix("").parts))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == maker.home]
    return maker.home in ("", here) or any(name in [each.name for each in node.names] for node in imports)


def _calls(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | None, ast.Call]]:
    """Yield every call, with the innermost function around it."""
    around: dict[int, ast.FunctionDef] = {}
    for node in ast.walk(tree):  # outer ones first
        if isinstance(node, ast.FunctionDef):
            around |= {id(each): node for each in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield around.get(id(node)), node


def _codes(written: ast.expr, tree: ast.Module) -> Iterator[str]:
    """Yield the codes that an expression may have: constants, and those of what it names in its module."""
    if isinstance(written, ast.Constant):
        yield str(written.value)
        return
    names = {node.id for node in ast.walk(written) if isinstance(node, ast.Name)}
    parts = [written, *(node for node in ast.walk(tree) if _binds(node, names))]
    found = [each.value for part in parts for each in ast.walk(part) if isinstance(each, ast.Constant)]
    codes = {code for code in found if isinstance(code, str) and code in load_texts()}
    yield from sorted(codes or {"nothing that is known"})


def _binds(node: ast.AST, names: set[str]) -> bool:
    """Say whether a statement gives one of these names its value."""
    if isinstance(node, ast.FunctionDef):
        return node.name in names
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id in names for target in node.targets)
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id in names


def constants() -> frozenset[str]:
    """Return every text in the source outside of docstrings that might be a code."""
    return frozenset(
        node.value
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value
    )
