"""A question as sqlglot's tokens, for what sqlglot's parser does not know. Nothing here knows a clause."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import Dialect, Token, TokenType
from sqlglot.errors import SqlglotError

from jali.errors import Field, QueryError, Unsupported

DIALECT = Dialect.get_or_raise("duckdb")
# Digits and exponents are counted, so that no short text asks for a number that fills the memory.
_NUMBER = re.compile(r"([+-]?)\s*((?:[0-9]{1,100}\.?[0-9]{0,100}|\.[0-9]{1,100})(?:[eE][+-]?[0-9]{1,3})?)")
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})


@dataclass(frozen=True)
class Lexed:
    """A text and its tokens. Tokens are named by their index, places in the text by their offset."""

    sql: str
    tokens: tuple[Token, ...]

    @classmethod
    def of(cls, sql: str) -> Lexed:
        """Cut a text into tokens; comments are between them, strings and quoted names are one each."""
        try:
            return cls(sql, tuple(DIALECT.tokenize(sql)))
        except SqlglotError:
            raise QueryError("syntax-unclosed") from None

    def word(self, index: int) -> str:
        """Return a token as it is written, in lower case; nothing outside the text. Quotes stay: never a word."""
        return self.text(range(index, index + 1)).lower() if 0 <= index < len(self.tokens) else ""

    def text(self, span: range) -> str:
        """Return the text from the first token of a span to its last."""
        return self.sql[self.tokens[span[0]].start : self.tokens[span[-1]].end + 1] if span else ""

    def number(self, span: range) -> Fraction | None:
        """Read a decimal number exactly, or nothing where the span is no number."""
        match = _NUMBER.fullmatch(self.text(span))
        return None if match is None else Fraction(match[1] + match[2])

    def turn(self, index: int) -> int:
        """Return 1 for a token that opens a bracket, -1 for one that closes, 0 for all others."""
        kind = self.tokens[index].token_type
        return (kind in _OPENING) - (kind in _CLOSING)

    def items(self, opening: int) -> tuple[list[range], int]:
        """Return what the commas of a parenthesis part, and the index of the token that closes it."""
        depth, first, found = 0, opening + 1, list[range]()
        for index in range(opening, len(self.tokens)):
            depth += self.turn(index)
            if depth == 0 and self.word(index) == ")":
                return [*found, range(first, index)], index
            if depth == 0:
                break
            if depth == 1 and self.word(index) == ",":
                found.append(range(first, index))
                first = index + 1
        raise self.refuse(opening, "parenthesis-unclosed")

    def without(self, spans: Iterable[tuple[int, int]]) -> str:
        """Return the text with these stretches, given by their offsets, as blanks: all else keeps its place."""
        kept, last = list[str](), 0
        for start, end in sorted(spans):
            kept += self.sql[last:start], re.sub(r"[^\r\n]", " ", self.sql[start:end])
            last = end
        return "".join((*kept, self.sql[last:]))

    def position(self, index: int) -> tuple[int, int]:
        """Return line and column of a token; of the last one where the text has ended."""
        before = self.sql[: self.tokens[min(index, len(self.tokens) - 1)].start]
        return before.count("\n") + 1, len(before) - before.rfind("\n")

    def refuse(self, index: int, code: str, /, **fields: Field) -> QueryError:
        """Make the refusal of something malformed."""
        return QueryError(code, position=self.position(index), **fields)

    def decline(self, index: int, code: str, /, **fields: Field) -> Unsupported:
        """Make the refusal of something that is understood and not supported."""
        return Unsupported(code, position=self.position(index), **fields)
