"""Markdown is wrapped, and names only modules that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = {"docs/errors.md"}  # tests/errors/page.py writes it from the catalogue
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/*.md"))
)
WIDTH = 120
# CONTRIBUTING.md tells a newcomer to make these files.
MADE_BY_READERS = {
    "src/jali/mechanisms/additive/clamped_laplace.py",
    "src/jali/lab/attacks/correlation.py",
}
FILES_OF_DATABASES = {"jali.lock", "jali.anchor"}
HOSTS = {"jali.example.org"}
# Names that work for one release with a warning.
OLD_NAMES = set(re.findall(r"\bjali\.\w+", (ROOT / "tests" / "frozen" / "old_names.txt").read_text()))


def prose(text: str) -> list[str]:
    """Return the lines of a page that are neither code nor tables."""
    lines, fence = [], None
    for line in text.splitlines():
        mark = re.match(r"\s*(```+)", line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and mark[1] == fence:
            fence = None
        elif fence is None and not line.lstrip().startswith("|"):
            lines.append(line)
    return lines


def can_be_broken(line: str) -> bool:
    """Say whether a line has a space, outside links and code, at which it could have been wrapped."""
    bare = re.sub(r"`[^`]*`|\]\([^)]*\)", lambda part: "x" * len(part[0]), line.strip())
    return " " in re.sub(r"^([-*>]|\d+\.) +", "", bare)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in GENERATED])
def test_a_page_is_wrapped(page: str) -> None:
    lines = prose((ROOT / page).read_text())
    assert [line for line in lines if len(line) > WIDTH and can_be_broken(line)] == []


def test_a_long_line_is_noticed_outside_of_code_and_tables() -> None:
    long = "word " * 30
    assert prose(f"```\n{long}\n```\n| {long} |\n{long}\n") == [long]
    assert can_be_broken(long)
    assert not can_be_broken(f"- [page]({'x' * 130})")


def missing_files(text: str) -> list[str]:
    """Return the source files that a text names and that are not there."""
    paths = re.findall(r"(?<![\w./-])(?:src/)?(jali/[a-z0-9_/]+\.pyi?)\b", text)
    return [path for path in paths if f"src/{path}" not in MADE_BY_READERS and not (ROOT / "src" / path).is_file()]


def missing_modules(text: str) -> list[str]:
    """Return the dotted names of a text whose first parts are a package and whose next part is not in it."""
    names = re.findall(r"(?<![\w./@-])jali(?:\.[A-Za-z_][A-Za-z_0-9]*)+", text)
    known = FILES_OF_DATABASES | HOSTS | OLD_NAMES
    return [name for name in names if name not in known and not _exists(name.split("."))]


def _exists(parts: list[str]) -> bool:
    place = ROOT / "src"
    for number, part in enumerate(parts):
        if (place / part).is_dir():
            place = place / part
        elif (place / f"{part}.py").is_file():
            return _names(place / f"{part}.py", parts[number + 1 :])
        else:
            return _names(place / "__init__.py", parts[number:]) or _names(place / "__init__.pyi", parts[number:])
    return True


def _names(module: Path, rest: list[str]) -> bool:
    """Say whether a module speaks of the name that follows it."""
    return not rest or (module.is_file() and re.search(rf"\b{rest[0]}\b", module.read_text()) is not None)


@pytest.mark.parametrize("page", PAGES)
def test_every_module_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text()
    assert missing_files(text) == []
    assert missing_modules(text) == []


# Pages write paths below src/jali without that prefix: `planner/plan.py`.
PACKAGES = sorted(path.name for path in (ROOT / "src" / "jali").iterdir() if (path / "__init__.py").is_file())
SHORT = re.compile(rf"`((?:{'|'.join(PACKAGES)})/[a-z0-9_/]+\.pyi?)`")


@pytest.mark.parametrize("page", PAGES)
def test_every_path_below_the_package_that_a_page_names_exists(page: str) -> None:
    paths = SHORT.findall((ROOT / page).read_text())
    assert [path for path in paths if not (ROOT / "src" / "jali" / path).is_file()] == []


FILES = {path.name for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py*")}


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_without_its_folder_exists(page: str) -> None:
    names = re.findall(r"`([A-Za-z_0-9]+\.pyi?)`", (ROOT / page).read_text())
    assert [name for name in names if name not in FILES and page != "CONTRIBUTING.md"] == []


def test_a_module_that_is_not_there_is_noticed() -> None:
    assert missing_files("see src/jali/nothing.py and jali/planner/plan.py") == ["jali/nothing.py"]
    assert missing_modules("jali.planner.plan.Plan, jali.planner.nothing") == ["jali.planner.nothing"]
    assert missing_modules("jali.connect, jali.database.Absent_") == ["jali.database.Absent_"]
