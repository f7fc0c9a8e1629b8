"""Regular expressions in Postgres's SQL.

Questions are written for RE2. What both libraries read alike is taken over; what Postgres would read otherwise is
refused, before anything is charged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.sql.dialect import Template
from jali.errors import Unsupported
from jali.ir.expressions import Call, Literal

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter

# Escapes, classes, groups and repeats that both read alike. RE2 has no lookaround and no back references.
_ALIKE = re.compile(
    r"""(?:
        [^\\\[\](){}*+?|^$.]                      # a letter that stands for itself
      | \\[dDwWsSnrtfv.\\+*?()|\[\]{}^$/\-]      # an escape
      | \[\^?(?:[^\\\[\]^&~-]|\\[dwsnrt.\\\]\[^-]|[^\\\[\]]-[^\\\[\]])+\]   # a class
      | \((?!\?)|\(\?:|\)|[|^$.]                # groups, choices, ends and any letter
      | [*+?]\??|\{\d{1,3}(?:,\d{0,3})?\}\??     # repeats
    )*""",
    re.VERBOSE,
)


_ANY_CASE = "(?i)"


def _matches(emitter: Emitter, call: Call) -> str:
    value, pattern = call.arguments
    assert isinstance(pattern, Literal)
    given = str(pattern.value)
    written = _check_pattern(given.removeprefix(_ANY_CASE), any_case=given.startswith(_ANY_CASE))
    if call.function == "regexp_full_match":
        written = f"^(?:{written})$"
    # A dot takes any character but the end of a line, as in RE2.
    options, letters = ("(?ip)", 'COLLATE "und-x-icu"') if given.startswith(_ANY_CASE) else ("(?p)", "")
    return f"({emitter.write_as(value, Kind.TEXT)} {letters} ~ {emitter.dialect.constant(options + written)})"


def _check_pattern(pattern: str, *, any_case: bool) -> str:
    # Where cases are one, letters are those of all languages, and so would be the classes of letters and digits.
    if not _ALIKE.fullmatch(pattern) or (any_case and re.search(r"\\[dDwWsS]", pattern)):
        raise Unsupported("postgres-pattern")
    return pattern


PATTERNS: dict[str, Template] = {"regexp_matches": _matches, "regexp_full_match": _matches}
