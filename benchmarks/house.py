"""`make house`: measure the source tree: files, lines, imports, names.

tests/docs/test_house.py holds the limits.
"""

from __future__ import annotations

import ast
import io
import statistics
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1] / "src" / "jali"
# A module of fewer lines that one other module imports could be a part of that one.
SMALL = 70
# Folders whose files are called alike because they do the same for another dialect or store.
MIRRORS = ("engines/duckdb", "engines/postgres", "engines/spark", "ledger/stores")
# Participles that do not end in -ed, but those that are verbs in the present too (read, set, split, ...).
IRREGULAR = frozenset(
    """arisen beaten bidden bitten born bought bred broken brought built caught chosen dealt done drawn driven
    drunk eaten fallen fed felt fled forbidden forgotten fought found frozen given gone gotten grown heard
    held hidden kept knelt known laid led left lent lost made meant met mistaken paid proven ridden risen
    rung said seen sent shaken shown shrunk slept sold sought spent spoken stolen stood stuck sung sunk
    swept sworn taken taught thought thrown told torn understood woken won worn written""".split()  # noqa: SIM905 - a list of 80 words reads worse
)
# Nouns of the field and public names that begin like participles.
NOUNS = frozenset(
    {
        "bounded_range",  # the loss of that name
        "expected_error",
        "expected_worst",
        "published",  # public: the tables and ticks that are published
        "randomized_response",  # the mechanism of that name
        "removed",  # public: what clamping and contribution bounds remove
        "spent",  # public: the privacy loss spent
        "squared_l2_sensitivity",
        "squared_sensitivity",
        "squared_weight",
    }
)
ENDS_IN_ED = frozenset(
    {"bed", "embed", "exceed", "feed", "need", "proceed", "red", "seed", "shed", "speed", "weed"}
)


@dataclass(frozen=True)
class Module:
    """One file of the source tree.

    Attributes:
        path: Where it is, below `src/jali`.
        text: What it holds.
        exported: Whether a stub makes names of it public.
    """

    path: PurePosixPath
    text: str = field(repr=False)
    exported: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @property
    def name(self) -> str:
        """The dotted name, without `.__init__`."""
        parts = self.path.with_suffix("").parts
        return ".".join(("jali", *parts[: -1 if self.is_package else None]))

    @property
    def is_package(self) -> bool:
        """Whether it is an `__init__`."""
        return self.path.name == "__init__.py"

    @property
    def lines(self) -> int:
        """All lines."""
        return self.text.count("\n")

    @cached_property
    def code(self) -> frozenset[int]:
        """The lines that are neither blank nor comments nor docstrings."""
        skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
        skipped |= {tokenize.ENCODING, tokenize.ENDMARKER}
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        spans = ((t.start[0], t.end[0]) for t in tokens if t.type not in skipped)
        return frozenset(line for first, last in spans for line in range(first, last + 1)) - self._docstrings()

    def _docstrings(self) -> set[int]:
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        nodes = (n.body[0] for n in ast.walk(self.tree) if isinstance(n, documented) and ast.get_docstring(n))
        return {line for node in nodes for line in range(node.lineno, (node.end_lineno or 0) + 1)}

    @cached_property
    def imports(self) -> frozenset[int]:
        """The lines of code that import."""
        nodes = (n for n in ast.walk(self.tree) if isinstance(n, ast.Import | ast.ImportFrom))
        return frozenset(line for n in nodes for line in range(n.lineno, (n.end_lineno or 0) + 1)) & self.code

    def imported(self) -> Iterator[str]:
        """Yield the dotted names that it imports, of modules or of names in them."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    package = self.name if self.is_package else self.name.rpartition(".")[0]
                    above = package.split(".")[: len(package.split(".")) - node.level + 1]
                    base = ".".join([*above, *filter(None, [node.module])])
                yield from (name for alias in node.names for name in (f"{base}.{alias.name}", base))

    def participles(self) -> Iterator[str]:
        """Yield the functions whose name begins with a participle."""
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name in NOUNS:
                continue
            first = node.name.strip("_").partition("_")[0]
            if first in IRREGULAR or (first.endswith("ed") and first not in ENDS_IN_ED):
                yield node.name


@dataclass(frozen=True)
class House:
    """The measures of a source tree."""

    modules: tuple[Module, ...]

    @property
    def files(self) -> int:
        """How many files."""
        return len(self.modules)

    @property
    def median(self) -> float:
        """The lines of the file in the middle."""
        return statistics.median(module.lines for module in self.modules)

    @property
    def largest(self) -> Module:
        """The longest file."""
        return max(self.modules, key=lambda module: module.lines)

    @property
    def code(self) -> int:
        """Lines without docstrings, comments and blanks; imports are counted."""
        return sum(len(module.code) for module in self.modules)

    @property
    def import_share(self) -> float:
        """The share of lines of code that import."""
        return sum(len(module.imports) for module in self.modules) / self.code

    @property
    def shared_basenames(self) -> float:
        """The share of files, packages and mirrors apart, whose basename another one has too."""
        names = [m.path.name for m in self.modules if not m.is_package and not _is_mirror(m.path)]
        return sum(count for count in Counter(names).values() if count > 1) / len(names)

    @cached_property
    def participles(self) -> tuple[str, ...]:
        """Functions whose name begins with a participle, as `path:name`."""
        return tuple(f"{module.path}:{name}" for module in self.modules for name in module.participles())

    @cached_property
    def lonely(self) -> tuple[str, ...]:
        """Small modules that one other module imports, and that no stub makes public."""
        names = {module.name: module for module in self.modules}
        importers: defaultdict[str, set[str]] = defaultdict(set)
        for module in self.modules:
            for name in module.imported():
                if name in names and name != module.name:
                    importers[name].add(module.name)
        small = (m for m in self.modules if m.lines < SMALL and not m.is_package and not m.exported)
        return tuple(str(m.path) for m in small if len(importers[m.name]) == 1)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield what is printed."""
        yield "source files", f"{self.files:,}"
        yield "median lines of a file", f"{self.median:g}"
        yield "largest file", f"{self.largest.lines} lines, {self.largest.path}"
        yield "lines of code", f"{self.code:,}"
        yield "import lines among them", f"{self.import_share:.1%}"
        yield f"modules below {SMALL} lines with one importer", f"{len(self.lonely)}"
        yield "files that share a basename", f"{self.shared_basenames:.1%}"
        yield "functions whose name begins with a participle", f"{len(self.participles)}"


def measure(root: Path = ROOT) -> House:
    """Read a source tree."""
    exported = set(_list_exported(root))
    files = ((path, path.relative_to(root)) for path in sorted(root.rglob("*.py")))
    return House(
        tuple(
            Module(PurePosixPath(short.as_posix()), path.read_text(encoding="utf-8"), path in exported)
            for path, short in files
        )
    )


def _list_exported(root: Path) -> Iterator[Path]:
    """Yield the files that the stubs of packages name."""
    for stub in root.rglob("__init__.pyi"):
        for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level and node.module:
                yield stub.parent.joinpath(*node.module.split(".")).with_suffix(".py")


def _is_mirror(path: PurePosixPath) -> bool:
    return str(path.parent) in MIRRORS


def main() -> int:
    """Print the measures; with `-v` also the modules and functions that are counted."""
    house = measure()
    for what, value in house.rows():
        print(f"{what:48}{value}")
    if "-v" in sys.argv[1:]:
        print("", *house.lonely, "", *house.participles, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
