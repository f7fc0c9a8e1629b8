"""Limits on the size of a question: the settings, the check of its text, and the count of its nodes.

Whatever somebody sends takes time that is bounded by these limits. The text is measured here and its tokens in
`sql.tokens`, both before it is parsed and in linear time. What only shows once a question is read is counted
before it is expanded: WITH tables (`sql.reader.read_relation`), grouping sets (`sql.reader.read_grouping`), the
size of all expressions once aliases and WITH tables are written out (`check_size`), the cells of an answer
(`planner.rules.choose_keys`) and its noisy numbers (`planner.rules.measure_aggregates`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from itertools import islice

from jali.errors import CatalogError, QueryError, settle
from jali.ir.expressions import (
    Call,
    Derived,
    Expression,
    Joined,
    Literal,
    Output,
    Question,
    Select,
    Source,
    Subquery,
    UnionQuery,
    aggregates,
    children,
)
from jali.ir.functions.text_functions import JOINS_TEXTS, MAKES_TEXT, MOST_REPEATED_IN_ALL, count_repetitions

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


def check_size(question: Question, limits: Limits = DEFAULT) -> None:
    """Refuse a question whose expressions are too large once aliases and WITH tables are written out.

    Parts that are used several times are counted each time, and looked at once: this takes linear time.
    """
    if _Sizes(_nodes).of_question(question) > limits.size:
        raise QueryError("question-too-large", position=question.position, most=limits.size)
    if _Sizes(_texts).of_question(question) > limits.texts:
        raise QueryError("too-many-texts", position=question.position, most=limits.texts)
    if _Sizes(_repetitions).of_question(question) > MOST_REPEATED_IN_ALL:
        raise QueryError("too-many-repetitions", position=question.position, most=MOST_REPEATED_IN_ALL)
    if len(aggregates(question)) > limits.aggregates:
        raise QueryError("too-many-aggregates", position=question.position, most=limits.aggregates)


def _nodes(_: Expression | Select | Source) -> int:
    return 1


def _texts(node: Expression | Select | Source) -> int:
    """Count what an engine holds a text for, for thousands of rows at once."""
    return int(isinstance(node, Call) and node.function in MAKES_TEXT | JOINS_TEXTS)


def _repetitions(node: Expression | Select | Source) -> int:
    """Count what an engine writes out of regular expressions."""
    if not isinstance(node, Call) or not node.function.startswith("regexp"):
        return 0
    patterns = (a.value for a in node.arguments if isinstance(a, Literal))
    return sum(count_repetitions(pattern) for pattern in patterns if isinstance(pattern, str))


class _Sizes:
    """Counts nodes with those that they are made of; the same object is looked at once.

    Args:
        count: For how many a node counts by itself.
    """

    def __init__(self, count: Callable[[Expression | Select | Source], int]) -> None:
        self._count = count
        self._known: dict[int, int] = {}

    def of_question(self, question: Question) -> int:
        written = [*(output.expression for output in question.outputs), *question.group_by]
        written += [ordering.expression for ordering in question.order_by]
        written += [e for e in (question.where, question.having) if e is not None]
        return self._source(question.source) + sum(self._expression(e) for e in written)

    def _expression(self, expression: Expression) -> int:
        known = self._known.get(id(expression))
        if known is not None:
            return known
        found = self._count(expression) + sum(map(self._expression, children(expression)))
        found += self._query(expression.query) if isinstance(expression, Subquery) else 0
        self._known[id(expression)] = found
        return found

    def _query(self, query: Select | UnionQuery) -> int:
        known = self._known.get(id(query))
        if known is not None:
            return known
        if isinstance(query, UnionQuery):
            found = sum(self._query(part) for part in query.parts)
        else:
            written = [output.expression for output in query.outputs if isinstance(output, Output)]
            written += [*query.group_by, *(e for e in (query.where, query.having) if e is not None)]
            found = self._count(query) + self._source(query.source) + sum(self._expression(e) for e in written)
        self._known[id(query)] = found
        return found

    def _source(self, source: Source) -> int:
        found = 0
        while isinstance(source, Joined):
            found += self._count(source) + self._source(source.right)
            found += 0 if source.on is None else self._expression(source.on)
            source = source.left
        return found + (self._query(source.query) if isinstance(source, Derived) else self._count(source))
