"""Small and capital letters in Spark's SQL, one character for one, as DuckDB has them.

Spark follows Unicode's special casing: ß becomes SS, and Σ at the end of a word ς. DuckDB maps every character by
itself, to one character. Letters that are newer than DuckDB's table of Unicode have cases in Spark alone.
"""

from __future__ import annotations

from functools import cache

from jali.engines.spark.literals import text
from jali.engines.spark.numbers import once


def lowered(written: str) -> str:
    """Write a text in small letters."""
    return f"lower(translate({written}, 'Σİ', 'σi'))"  # noqa: RUF001 - a sigma is meant


def uppered(written: str) -> str:
    """Write a text in capitals; texts with letters of which Spark makes several are taken letter by letter."""
    special, simple = (text(letters) for letters in _special())
    each = f"CASE WHEN instr({special}, c) > 0 THEN translate(c, {special}, {simple}) ELSE upper(c) END"
    any_special = text(f"[{_special()[0]}]")
    return once(
        written,
        lambda v: (
            f"CASE WHEN {v} RLIKE {any_special} THEN array_join(transform(split({v}, ''), c -> {each}), '')"
            f" ELSE upper({v}) END"
        ),
    )


@cache
def _special() -> tuple[str, str]:
    """Return the letters whose capitals are several, and what each of them becomes by itself."""
    found = [character for character in map(chr, range(0x10000)) if len(character.upper()) > 1]
    return "".join(found), "".join(map(_capital, found))


def _capital(character: str) -> str:
    """Return the capital that is one character: that of a heading, or the letter itself."""
    if character == "ß":
        return "ẞ"
    return character.title() if len(character.title()) == 1 else character
