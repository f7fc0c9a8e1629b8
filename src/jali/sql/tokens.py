"""Cut a question into sqlglot's tokens, and count them against the limits before it is parsed.

The tokens serve what sqlglot's parser does not know. The count is one pass, in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import Dialect, Token, TokenType
from sqlglot.errors import SqlglotError

from jali.errors import Field, QueryError, Unsupported
from jali.ir.functions.aggregate_functions import AGGREGATES
from jali.sql.question_limits import DEFAULT, Limits, too_many_tokens

DIALECT = Dialect.get_or_raise("duckdb")
# Digits and exponents are counted, so that no short text asks for a number that fills the memory.
_NUMBER = re.compile(r"([+-]?)\s*((?:[0-9]{1,100}\.?[0-9]{0,100}|\.[0-9]{1,100})(?:[eE][+-]?[0-9]{1,3})?)")
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})


@dataclass(frozen=True)
class TokenizedText:
    """A text and its tokens. Tokens are named by their index, places in the text by their offset."""

    sql: str
    tokens: tuple[Token, ...]

    @classmethod
    def of(cls, sql: str) -> TokenizedText:
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
        raise self.refuse_at(opening, "parenthesis-unclosed")

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

    def refuse_at(self, index: int, code: str, /, **fields: Field) -> QueryError:
        """Make the refusal of something malformed."""
        return QueryError(code, position=self.position(index), **fields)

    def decline(self, index: int, code: str, /, **fields: Field) -> Unsupported:
        """Make the refusal of something that is understood and not supported."""
        return Unsupported(code, position=self.position(index), **fields)


# Every aggregate, and the other names under which sqlglot reads one.
_AGGREGATES = frozenset(
    {"approx_count_distinct", "approx_distinct", "approx_quantile", "count_if", "countif", "mean"}
    | {"percentile_cont", "percentile_disc", "quantile", "stddev", "stdev", "top_k"}
    | {"variance", "variance_pop", "variance_samp", *AGGREGATES}
)
_OPENING_TOKENS = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING_TOKENS = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
# Words after which another list begins.
_CLAUSES = {
    TokenType.SELECT,
    TokenType.WHERE,
    TokenType.GROUP_BY,
    TokenType.HAVING,
    TokenType.ORDER_BY,
    TokenType.LIMIT,
    TokenType.WITH,
    TokenType.UNION,
    TokenType.EXCEPT,
    TokenType.INTERSECT,
    TokenType.SEMICOLON,
}
_GROUPINGS = {TokenType.CUBE, TokenType.ROLLUP, TokenType.GROUPING_SETS}


@dataclass(slots=True)
class _Level:
    """What was counted inside one pair of brackets.

    Attributes:
        kind: The word before the brackets, where it is one that makes grouping sets; or CASE.
        items: The items of the list that is being read.
        after_from: Whether that list is one of tables.
        selects: Whether a query stands in these brackets.
        sets: How many grouping sets the terms of GROUP BY ask for so far, multiplied; in the brackets of GROUPING
            SETS those of its items, beyond one for each.
    """

    kind: TokenType | None = None
    items: int = 1
    after_from: bool = False
    selects: bool = False
    sets: int = 1
    empty: bool = True


class _Count:
    """Counts along the tokens, and refuses at the first that is too many."""

    def __init__(self, lexed: TokenizedText, limits: Limits) -> None:
        self.lexed, self.limits = lexed, limits
        self.levels = [_Level()]
        self.tables = self.selects = self.aggregates = 0

    def run(self) -> None:
        before: TokenType | None = None
        for index, token in enumerate(self.lexed.tokens):
            self.take(index, token.token_type, before)
            before = token.token_type

    def take(self, index: int, kind: TokenType, before: TokenType | None) -> None:
        level = self.levels[-1]
        if kind in _OPENING_TOKENS:
            self.open(index, kind, before)
        elif kind in _CLOSING_TOKENS:
            while len(self.levels) > 1 and self.levels[-1].kind is TokenType.CASE:  # one without its END
                self.levels.pop()
            self.close(index)
        elif kind is TokenType.END and level.kind is TokenType.CASE:
            self.levels.pop()
        elif kind is TokenType.COMMA:
            self.next_item(index, level)
        elif kind in _CLAUSES:
            level.items, level.after_from = 1, False
            if kind is TokenType.SELECT:
                self.select(index, level)
            elif kind is TokenType.GROUP_BY:
                level.sets = 1
        elif kind is TokenType.FROM and before is not TokenType.DISTINCT and (level.selects or level.empty):
            level.items, level.after_from, level.selects = 1, True, True
            self.table(index)
        elif kind is TokenType.JOIN:
            self.table(index)
        level.empty = False

    def open(self, index: int, kind: TokenType, before: TokenType | None) -> None:
        if len(self.levels) > self.limits.depth:
            raise self.lexed.refuse_at(index, "question-too-deep", most=self.limits.depth)
        if kind is TokenType.L_PAREN and self.lexed.word(index - 1).removeprefix("anon_") in _AGGREGATES:
            self.aggregates += 1
            if self.aggregates > self.limits.aggregates:
                raise self.lexed.refuse_at(index - 1, "too-many-aggregates", most=self.limits.aggregates)
        self.levels.append(_Level(kind if kind is TokenType.CASE else before if before in _GROUPINGS else None))

    def close(self, index: int) -> None:
        if len(self.levels) == 1:  # the parser says what is wrong
            return
        inner, outer = self.levels.pop(), self.levels[-1]
        if inner.kind is None:
            return
        asked = self.sets_of(inner)
        # Terms of GROUP BY are crossed; items of GROUPING SETS stand side by side.
        inside = outer.kind is TokenType.GROUPING_SETS
        outer.sets = outer.sets + asked - 1 if inside else outer.sets * asked
        if outer.sets > self.limits.sets or asked > self.limits.sets:
            raise self.lexed.refuse_at(index, "too-many-grouping-sets", most=self.limits.sets)

    def sets_of(self, level: _Level) -> int:
        items = 0 if level.empty else level.items
        if level.kind is TokenType.CUBE:
            return 1 << min(items, 64)
        return items + 1 if level.kind is TokenType.ROLLUP else items + level.sets - 1

    def next_item(self, index: int, level: _Level) -> None:
        level.items += 1
        if level.items > self.limits.items:
            raise self.lexed.refuse_at(index, "too-many-items", most=self.limits.items)
        if level.after_from:
            self.table(index)

    def select(self, index: int, level: _Level) -> None:
        level.selects = True
        self.selects += 1
        if self.selects > self.limits.selects:
            raise self.lexed.refuse_at(index, "too-many-selects", most=self.limits.selects)

    def table(self, index: int) -> None:
        self.tables += 1
        if self.tables > self.limits.tables:
            raise self.lexed.refuse_at(index, "too-many-tables", most=self.limits.tables)


def check_tokens(lexed: TokenizedText, limits: Limits = DEFAULT) -> None:
    """Refuse a question that is larger than a limit: one pass over its tokens.

    Raises:
        QueryError: It is larger, with the place and the name of the limit.
    """
    if len(lexed.tokens) > limits.tokens:
        raise too_many_tokens(limits, lexed.position(limits.tokens))
    _Count(lexed, limits).run()
