"""SQL text to sqlglot's tree, strictly: what is not one valid statement is refused with its place."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from jali.errors import QueryError
from jali.query.lexed import Lexed

_MAX_SQL = 100_000
_BEGINNINGS = ("SELECT", "WITH", "FROM", "(")


def parse(sql: str) -> exp.Select | exp.SetOperation:
    """Parse one SELECT, or a UNION of them."""
    check_text(sql)
    try:
        with _unlogged():
            statements = [s for s in sqlglot.parse(sql, read="duckdb") if s is not None]
    except ParseError as problem:
        raise _syntax_error(sql, problem) from None
    except (SqlglotError, RecursionError):
        raise QueryError("The question is not valid SQL.", remedy="Check brackets and quotes.") from None
    if len(statements) > 1:
        raise QueryError(
            "A question is one SELECT statement, and these are several.",
            position=(1, 1),
            remedy="Ask them one by one, or together in a batch.",
        )
    if not statements or not isinstance(statements[0], exp.Select | exp.SetOperation):
        raise QueryError(
            "A question is one SELECT statement.", position=(1, 1), remedy="Write SELECT ... FROM ..."
        )
    return statements[0]


def check_text(sql: str) -> None:
    """Refuse a text that is too long or that no file could hold."""
    if len(sql) > _MAX_SQL or "\x00" in sql or not _is_unicode(sql):
        raise QueryError(
            f"A question has at most {_MAX_SQL:,} characters, all of them Unicode and none NUL.",
            remedy="Shorten it, or declare the list that it holds as keys.",
        )


def _syntax_error(sql: str, problem: ParseError) -> QueryError:
    first = problem.errors[0] if problem.errors else {}
    lexed = Lexed.of(sql)
    if lexed.tokens and lexed.tokens[0].text.upper() not in _BEGINNINGS:
        # A misspelt SELECT is read as a name, and what follows it would be marked.
        return QueryError(
            "A question begins with SELECT.", position=lexed.position(0), remedy="Check the spelling of this word."
        )
    # sqlglot prints its tokens after "but got", and its classes in quotes: they mean nothing to the reader.
    said = str(first.get("description", "")).split(" but got")[0].rstrip(".")
    if not said or "class" in said or "<" in said:
        said = "The question is not valid SQL"
    elif said.startswith("Invalid expression"):
        said = "This is not expected here"
    return QueryError(f"{said}.", position=_place(sql, first), remedy="Check the spelling near this place.")


def _place(sql: str, first: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return where the token of an error begins: sqlglot tells where it ends."""
    lexed = Lexed.of(sql)
    ends = ((token.line, token.col) for token in lexed.tokens)
    found = (i for i, end in enumerate(ends) if end == (first.get("line"), first.get("col")))
    index = next(found, None)
    return None if index is None else lexed.position(index)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep sqlglot from logging parts of the question."""
    logger = logging.getLogger("sqlglot")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
