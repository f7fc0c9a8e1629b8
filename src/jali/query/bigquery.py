"""BigQuery's privacy clause and contribution bounds, read from the tokens and blanked out of the text.

`SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column=id) SUM(x, contribution_bounds_per_group
=> (0, 100))` is no SQL that sqlglot parses, in any dialect. So both are read here, strictly, and what remains is
plain SQL in which every token stands where it stood. The names are those of BigQuery's reference (query syntax,
"Differential privacy clause"; "Differentially private aggregate functions") and of GoogleSQL, which it speaks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from jali.query.contribution import Contribution, read_contributions
from jali.query.lexed import Lexed
from jali.query.limits import DEFAULT, Limits
from jali.query.token_limits import check_tokens

__all__ = ["Contribution", "PrivacyClause", "read_clause"]

_WORDS = re.compile(
    "differential_privacy|anonymization|aggregation_threshold|contribution_bounds_per_", re.IGNORECASE | re.ASCII
)
_CLAUSES = frozenset({"differential_privacy", "anonymization", "aggregation_threshold"})
# `kappa` is the name that max_groups_contributed had in the older clause.
_MEANING = {
    "epsilon": "epsilon",
    "delta": "delta",
    "max_groups_contributed": "max_groups",
    "kappa": "max_groups",
    "max_rows_contributed": "max_rows",
    "privacy_unit_column": "unit",
    "min_privacy_units_per_group": "min_people",
    "group_selection_strategy": "selection",
}
_KNOWN = tuple(name for name in _MEANING if name != "kappa")
_STRATEGIES = ("LAPLACE_THRESHOLD", "PUBLIC_GROUPS")
_WHOLE = re.compile("[0-9]{1,18}")
_NAME = r'[^\W\d]\w*|"(?:[^"]|"")+"|`[^`]+`'
_PATH = re.compile(rf"(?:({_NAME})\s*\.\s*)?({_NAME})")


@dataclass(frozen=True)
class PrivacyClause:
    """What `OPTIONS(...)` says; None where it says nothing.

    Args:
        epsilon: The epsilon of the whole question, above 0.
        delta: The delta of the whole question, at least 0 and below 1.
        max_groups: In how many groups one person counts at most.
        max_rows: How many rows one person counts for at most, over all groups.
        unit: The column that names the person, without its quotes.
        unit_table: The table or alias before that column, if the question writes one.
        min_people: How many people must stand behind a group that is shown.
        selection: How groups are chosen: LAPLACE_THRESHOLD or PUBLIC_GROUPS.
        position: Line and column of the clause.
    """

    position: tuple[int, int]
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    max_groups: int | None = None
    max_rows: int | None = None
    unit: str | None = None
    unit_table: str | None = None
    min_people: int | None = None
    selection: str | None = None


def read_clause(
    sql: str, limits: Limits = DEFAULT
) -> tuple[str, PrivacyClause | None, Mapping[int, Contribution]]:
    """Return the question without BigQuery's words, the clause, and the bounds of its aggregates.

    The text keeps its length and its lines. Bounds are keyed by the offset of the name of their function, which
    is `meta["start"]` of sqlglot's node for it. A question without these words comes back as it is.

    Example:
        >>> sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=.1) COUNT(*) FROM t"
        >>> plain, clause, bounds = read_clause(sql)
        >>> plain.split(), clause.epsilon
        (['SELECT', 'COUNT(*)', 'FROM', 't'], Fraction(1, 10))
    """
    if not _WORDS.search(sql):
        return sql, None, {}
    lexed = Lexed.of(sql)
    check_tokens(lexed, limits)
    place = _find(lexed)
    if place is None:
        spans, bounds = read_contributions(lexed, range(0))
        return lexed.without(spans), None, bounds
    clause, closing = _read(lexed, place)
    older = lexed.word(place + 1) == "anonymization"
    spans, bounds = read_contributions(lexed, range(place, closing + 1), older=older)
    whole = (lexed.tokens[place].start, lexed.tokens[closing].end + 1)
    return lexed.without([whole, *spans]), clause, bounds


def _find(lexed: Lexed) -> int | None:
    """Return the index of the clause's WITH. Elsewhere than after the first outermost SELECT it is refused."""
    depth, outermost, found = 0, None, None
    for index in range(len(lexed.tokens)):
        depth += lexed.turn(index)
        if outermost is None and depth == 0 and lexed.word(index) == "select":
            outermost = index
        if _opens(lexed, index):
            _check_place(lexed, index, outermost)
            found = index
    return found


def _opens(lexed: Lexed, index: int) -> bool:
    """Tell the clause from a common table expression that has its name: `WITH anonymization AS (...)`."""
    named = lexed.word(index) == "with" and lexed.word(index + 1) in _CLAUSES
    return named and (lexed.word(index - 1) == "select" or lexed.word(index + 2) == "options")


def _check_place(lexed: Lexed, index: int, outermost: int | None) -> None:
    name = lexed.word(index + 1).upper()
    if name == "AGGREGATION_THRESHOLD":
        raise lexed.decline(index, "bigquery-aggregation-threshold")
    if lexed.word(index - 1) != "select":
        raise lexed.refuse(index, "privacy-clause-misplaced", clause=name)
    if index - 1 != outermost:
        raise lexed.decline(index, "privacy-clause-inner", clause=name)


def _read(lexed: Lexed, place: int) -> tuple[PrivacyClause, int]:
    """Read the clause whose WITH is at `place`; return it and the index of the parenthesis that closes it."""
    if lexed.word(place + 2) != "options" or lexed.word(place + 3) != "(":
        name = lexed.word(place + 1).upper()
        raise lexed.refuse(place, "privacy-clause-without-options", clause=name)
    items, closing = lexed.items(place + 3)
    options: dict[str, range] = {}
    for item in items if closing > place + 4 else ():
        meaning = _name(lexed, item)
        if meaning in options:
            raise lexed.refuse(item.start, "privacy-option-repeated", option=lexed.word(item.start))
        options[meaning] = item[2:]
    if "max_groups" in options and "max_rows" in options:
        raise lexed.refuse(options["max_rows"].start - 2, "privacy-options-exclusive")
    return _clause(lexed, options, lexed.position(place)), closing


def _name(lexed: Lexed, item: range) -> str:
    """Return what an item `name = value` sets, or refuse it."""
    name = lexed.word(item.start)
    if len(item) and name not in _MEANING:
        raise lexed.refuse(
            item.start, "privacy-option-unknown", option=lexed.text(item[:1]), options=tuple(_KNOWN)
        )
    if len(item) < 3 or lexed.word(item.start + 1) != "=":
        raise lexed.refuse(item.start, "privacy-option-malformed", options=tuple(_KNOWN))
    return _MEANING[name]


def _clause(lexed: Lexed, options: Mapping[str, range], position: tuple[int, int]) -> PrivacyClause:
    table, unit = _unit(lexed, options.get("unit"))
    return PrivacyClause(
        position=position,
        epsilon=_epsilon(lexed, options.get("epsilon")),
        delta=_delta(lexed, options.get("delta")),
        max_groups=_whole(lexed, options.get("max_groups")),
        max_rows=_whole(lexed, options.get("max_rows")),
        unit=unit,
        unit_table=table,
        min_people=_whole(lexed, options.get("min_people")),
        selection=_selection(lexed, options.get("selection")),
    )


def _epsilon(lexed: Lexed, value: range | None) -> Fraction | None:
    number = None if value is None else lexed.number(value)
    if value is not None and (number is None or number <= 0):
        raise lexed.refuse(value.start, "privacy-option-epsilon")
    return number


def _delta(lexed: Lexed, value: range | None) -> Fraction | None:
    number = None if value is None else lexed.number(value)
    if value is not None and (number is None or not 0 <= number < 1):
        raise lexed.refuse(value.start, "privacy-option-delta")
    return number


def _whole(lexed: Lexed, value: range | None) -> int | None:
    if value is None:
        return None
    text = lexed.text(value)
    if not _WHOLE.fullmatch(text) or int(text) == 0:
        option = lexed.word(value.start - 2)
        raise lexed.refuse(value.start, "privacy-option-whole", option=option)
    return int(text)


def _unit(lexed: Lexed, value: range | None) -> tuple[str | None, str | None]:
    """Return the table, where one is written, and the column."""
    if value is None:
        return None, None
    match = _PATH.fullmatch(lexed.text(value))
    if match is None:
        raise lexed.refuse(value.start, "privacy-option-unit")
    return None if match[1] is None else _unquoted(match[1]), _unquoted(match[2])


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name[0] == '"' else name.strip("`")


def _selection(lexed: Lexed, value: range | None) -> str | None:
    text = None if value is None else lexed.text(value).upper()
    if value is not None and text not in _STRATEGIES:
        raise lexed.refuse(value.start, "privacy-option-strategy", strategies=tuple(_STRATEGIES))
    return text
