"""How large a question may be: settings, and the checks of its text.

Whatever somebody sends takes time that is bounded by these limits. The text is measured here and its tokens in
`query.token_limits`, both before it is parsed and in linear time. What only shows once a question is read is
counted before it is expanded: WITH tables (`query.read_relation`), grouping sets (`query.grouping`), the size of
all expressions (`query.size_limits`), the cells of an answer (`planner.choose_keys`) and its noisy numbers
(`planner.measure_aggregates`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from itertools import islice

from jali.errors import CatalogError, QueryError, settle

VARIABLE = "JALI_LIMITS"
_MOST = 10**9


@dataclass(frozen=True)
class Limits:
    """The size of the largest question that is planned. None of them concerns privacy.

    Attributes:
        characters: How many characters a question has.
        tokens: How many words, numbers, texts and signs.
        depth: How many brackets and CASEs stand inside each other.
        terms: How many operators and functions are applied one after the other: `a + b + c` applies two.
        items: How many items one list has: of IN, of SELECT, of GROUP BY, or the arguments of a function.
        tables: How many tables and subqueries stand after FROM and JOIN in all.
        selects: How many SELECTs there are, those of a WITH table once for each use.
        aggregates: How many aggregates are written.
        sets: How many grouping sets GROUPING SETS, CUBE and ROLLUP ask for.
        size: How many columns, constants and calls all expressions have, with aliases written out.
        texts: How many functions that make a text they have, with aliases written out.
        cells: How many groups an answer can have.
        releases: How many noisy numbers are released of each group, over all grouping sets: one for a count or a
            sum, two for a mean, three for a variance.
        numbers: How many noisy numbers an answer is made of: groups times what is released of each.

    Example:
        >>> Limits(tokens=10_000).tokens
        10000
    """

    characters: int = 50_000
    tokens: int = 2_500
    depth: int = 32
    terms: int = 120
    items: int = 1_000
    tables: int = 32
    selects: int = 32
    aggregates: int = 64
    sets: int = 64
    size: int = 2_500
    texts: int = 48
    cells: int = 1_000_000
    releases: int = 48
    numbers: int = 4_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or not 1 <= value <= _MOST:
                raise CatalogError(
                    "limit-outside", limit=field.name, most=_MOST, given=value, default=settle(field.default)
                )


DEFAULT = Limits()


def read_limits(written: Iterable[str], given: Limits = DEFAULT) -> Limits:
    """Read limits that are written as `tokens=10000`.

    Example:
        >>> read_limits(["tokens=9000", "depth=20"]).depth
        20
    """
    known = {field.name for field in fields(Limits)}
    for item in written:
        name, _, value = (part.strip() for part in item.partition("="))
        if name not in known or not value.isascii() or not value.isdigit() or len(value) > 10:
            raise CatalogError("limit-unknown", given=item, limits=tuple(sorted(known)))
        given = replace(given, **{name: int(value)})
    return given


def usual_limits() -> Limits:
    """Return the limits of this process: the defaults, as the environment variable JALI_LIMITS changes them."""
    written = os.environ.get(VARIABLE, "")
    return read_limits(item for item in written.split(",") if item.strip())


# Counted before sqlglot cuts the text, which takes ten times as long. A token has one piece, and a text in quotes
# two more than its words.
_PIECE = re.compile(r"\w+|[^\s\w]")
_PIECES = 4


def check_text(sql: str, limits: Limits = DEFAULT) -> None:
    """Refuse a text that is too long, or that no file could hold, before it is cut into tokens."""
    if len(sql) > limits.characters:
        raise QueryError("too-many-characters", most=limits.characters)
    if "\x00" in sql or not _is_unicode(sql):
        raise QueryError("question-not-unicode")
    beyond = next(islice(_PIECE.finditer(sql), _PIECES * limits.tokens, None), None)
    if beyond is not None:
        before = sql[: beyond.start()]
        raise too_many_tokens(limits, (before.count("\n") + 1, len(before) - before.rfind("\n")))


def too_many_tokens(limits: Limits, position: tuple[int, int]) -> QueryError:
    """Make the refusal of a text with too many tokens."""
    return QueryError("too-many-tokens", position=position, most=limits.tokens)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
