"""Parse SQL text with sqlglot, strictly: anything but one valid statement is refused with its place."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from jali.errors import QueryError
from jali.sql.question_limits import DEFAULT, Limits, check_text
from jali.sql.tokens import DIALECT, TokenizedText, check_tokens

_BEGINNINGS = ("SELECT", "WITH", "FROM", "(")


def parse_select(sql: str, limits: Limits = DEFAULT) -> exp.Select | exp.SetOperation:
    """Parse one SELECT, or a UNION of them, of at most the size that the limits allow."""
    check_text(sql, limits)
    lexed = TokenizedText.of(sql)
    check_tokens(lexed, limits)
    try:
        with _silence_logging():
            statements = [s for s in DIALECT.parser().parse(list(lexed.tokens), sql) if s is not None]
    except ParseError as problem:
        raise _syntax_error(lexed, problem) from None
    except RecursionError:
        raise too_deep() from None
    except SqlglotError:
        raise QueryError("syntax-brackets") from None
    if len(statements) > 1:
        raise QueryError("several-statements", position=(1, 1))
    if not statements or not isinstance(statements[0], exp.Select | exp.SetOperation):
        raise QueryError("not-a-select", position=(1, 1))
    return statements[0]


def too_deep() -> QueryError:
    """Make the refusal of a question that is nested too deeply to be read."""
    return QueryError("question-nested-too-deeply")


def _syntax_error(lexed: TokenizedText, problem: ParseError) -> QueryError:
    first = problem.errors[0] if problem.errors else {}
    if lexed.tokens and lexed.tokens[0].text.upper() not in _BEGINNINGS:
        # A misspelt SELECT is read as a name, and what follows it would be marked.
        return QueryError("select-misspelt", position=lexed.position(0))
    # sqlglot prints its tokens after "but got", and its classes in quotes: they mean nothing to the reader.
    said = str(first.get("description", "")).split(" but got")[0].rstrip(".")
    place = _place(lexed, first)
    if not said or "class" in said or "<" in said:
        return QueryError("syntax-invalid", position=place)
    if said.startswith("Invalid expression"):
        return QueryError("syntax-unexpected", position=place)
    return QueryError("syntax-error", position=place, problem=said)


def _place(lexed: TokenizedText, first: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return where the token of an error begins: sqlglot tells where it ends."""
    ends = ((token.line, token.col) for token in lexed.tokens)
    found = (i for i, end in enumerate(ends) if end == (first.get("line"), first.get("col")))
    index = next(found, None)
    return None if index is None else lexed.position(index)


@contextmanager
def _silence_logging() -> Iterator[None]:
    """Keep sqlglot from logging parts of the question."""
    logger = logging.getLogger("sqlglot")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
