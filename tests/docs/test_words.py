"""Public text keeps to the words of the field: pages, errors, help, templates and explanations.

`words.toml` has the words, and the exceptions with their reasons.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from jali.cli.app import app

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "jali"
LIST: dict[str, Any] = tomllib.loads((Path(__file__).parent / "words.toml").read_text())
WORDS = {entry["not"]: re.compile(rf"\b(?:{entry['not']})\b", re.IGNORECASE) for entry in LIST["word"]}
EXCEPTIONS = LIST.get("exception", [])
# What is still to be rewritten: how many hits a place may have. Lower the numbers, never raise them.
REMAINING: dict[str, int] = LIST.get("remaining", {})

PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
    if page.name not in ("errors.md", "CHANGELOG.md")  # written from the catalogue; what was released
)
TEMPLATES = sorted(str(page.relative_to(ROOT)) for page in SOURCE.glob("server/pages/templates/*.html"))
TEXTS = sorted(
    str(module.relative_to(ROOT))
    for module in (
        *SOURCE.glob("errors/catalogue/*_texts.py"),
        *SOURCE.glob("explain/*.py"),
        *SOURCE.glob("display/**/*.py"),
        *SOURCE.glob("demo/*.py"),
        SOURCE / "planner" / "answer_notes.py",
    )
)
HELP = "jali --help"


def prose(markdown: str) -> str:
    """Return the text of a page without code, addresses of links and what programs print."""
    text = re.sub(r"^(\s*)(```+).*?^\s*\2\s*$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ {4,}(?![-*0-9]).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"(`+)(?:(?!\1).)+?\1", "", text, flags=re.DOTALL)
    return " ".join(re.sub(r"\]\([^)]*\)", "]", text).split())


def sentences(module: str) -> str:
    """Return the texts of a module: its literals with a space in them, without docstrings."""
    tree = ast.parse(module)
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    texts = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
    )
    return prose("\n".join(text for text in texts if " " in text.strip()))


def shown(template: str) -> str:
    """Return what a template shows: no tags, no statements, no expressions, no scripts."""
    text = re.sub(r"<(script|style)\b.*?</\1>|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", " ", template, flags=re.DOTALL)
    return " ".join(re.sub(r"<code>.*?</code>|<[^>]*>", " ", text, flags=re.DOTALL).split())


def help_texts(command: Any, name: str = "jali") -> Iterator[str]:
    """Yield the help of a command, of its options, and of what is below it."""
    yield prose(command.help or "")
    yield from (prose(getattr(option, "help", None) or "") for option in command.params)
    for below, each in getattr(command, "commands", {}).items():
        yield from help_texts(each, f"{name} {below}")


@cache
def public_text(place: str) -> str:
    """Return the words of one place."""
    if place == HELP:
        return "\n".join(help_texts(typer.main.get_command(app)))
    text = (ROOT / place).read_text()
    return {".md": prose, ".py": sentences, ".html": shown}[Path(place).suffix](text)


def hits(place: str) -> Counter[str]:
    """Count the listed words of a place, by their entry, with the words around each as a hint."""
    return Counter({word: len(pattern.findall(public_text(place))) for word, pattern in WORDS.items()})


def allowed(place: str, word: str) -> float:
    """Return how often a place may have a word."""
    found = [entry for entry in EXCEPTIONS if re.fullmatch(entry["where"], place) and entry["not"] in word]
    return float(sum(entry.get("most", float("inf")) for entry in found))


def around(place: str, word: str) -> list[str]:
    """Return a few words on each side of each hit."""
    text = public_text(place)
    return [text[max(0, hit.start() - 40) : hit.end() + 30] for hit in WORDS[word].finditer(text)]


@pytest.mark.parametrize("place", [*PAGES, *TEMPLATES, *TEXTS, HELP])
def test_public_text_keeps_to_the_words_of_the_field(place: str) -> None:
    wrong = {word: around(place, word) for word, count in hits(place).items() if count > allowed(place, word)}
    assert sum(map(len, wrong.values())) <= REMAINING.get(place, 0), wrong


def test_every_exception_has_a_reason_and_a_place() -> None:
    places = [*PAGES, *TEMPLATES, *TEXTS, HELP]
    for entry in EXCEPTIONS:
        assert entry["why"]
        assert any(re.fullmatch(entry["where"], place) for place in places), entry
        assert any(entry["not"] in word for word in WORDS), entry


def test_every_entry_says_what_to_write_instead() -> None:
    assert all(entry["say"] and entry["not"] for entry in LIST["word"])


def test_wrong_words_are_noticed_and_code_is_not_read() -> None:
    text = prose("A part is told.\n\n```\ntold\n```\n\n`told` [told](told.md), the dearest\nhouse")
    assert text == "A part is told. [told], the dearest house"
    found = {word for word, pattern in WORDS.items() if pattern.search(text)}
    assert len(found) == 3
    assert sentences('"""Told."""\nX = Text("It is told.")\nY = "told"') == "It is told."
    assert shown("<p>{{ told }}It is <code>told</code> told</p>") == "It is told"
