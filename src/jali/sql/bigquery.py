"""Read BigQuery's privacy clause and contribution bounds from the tokens, and blank them out of the text.

`SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column=id) SUM(x, contribution_bounds_per_group
=> (0, 100))` is no SQL that sqlglot parses, in any dialect. So both are read here, strictly, and what remains is
plain SQL in which every token stands where it stood. The names are those of BigQuery's reference (query syntax,
"Differential privacy clause"; "Differentially private aggregate functions") and of GoogleSQL, which it speaks.
The older clause, WITH ANONYMIZATION, has its own spelling of the bounds: `ANON_SUM(x CLAMPED BETWEEN 0 AND 100)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from jali.sql.question_limits import DEFAULT, Limits
from jali.sql.tokens import TokenizedText, check_tokens

__all__ = ["ContributionBounds", "PrivacyClause", "read_clause"]


Per: TypeAlias = Literal["group", "row"]

_PER: dict[str, Per] = {"contribution_bounds_per_group": "group", "contribution_bounds_per_row": "row"}
# Which bounds an aggregate can have, BigQuery's own first. Only functions whose place sqlglot keeps are here: the
# bound of another could not find its node, and would be lost.
_AGGREGATES: dict[str, tuple[Per, ...]] = {
    "count": ("group",),
    "sum": ("group", "row"),
    "avg": ("group", "row"),
    "var_pop": ("row",),
    "var_samp": ("row",),
    "variance": ("row",),
    "stddev_pop": ("row",),
    "stddev_samp": ("row",),
    "stddev": ("row",),
    "percentile_cont": ("row",),
    "percentile_disc": ("row",),
    "approx_quantiles": ("row",),
    "median": ("row",),
}
_OLDER = "anon_"
# Beyond this no double has room to be scaled.
_MOST = Fraction(2) ** 1000


@dataclass(frozen=True)
class ContributionBounds:
    """The bounds of one aggregate.

    Args:
        low: The lower bound.
        high: The upper bound, not below the lower one.
        per: `group`: a person's sum, count or mean in one group is clamped. `row`: each value is clamped.
    """

    low: Fraction
    high: Fraction
    per: Per


@dataclass(frozen=True)
class _WrittenBounds:
    """A bound as it stands in the text: the index of its function's name, and its first and last token."""

    function: int
    first: int
    last: int
    bound: ContributionBounds


def read_contributions(
    lexed: TokenizedText, clause: range, *, older: bool = False
) -> tuple[list[tuple[int, int]], dict[int, ContributionBounds]]:
    """Return the stretches of the text to blank, and the bounds by the offset of their function's name.

    Args:
        lexed: The question.
        clause: The tokens of its privacy clause, which hold no aggregate; none where there is no clause.
        older: Whether aggregates are called ANON_SUM and so on. The prefix is blanked too.
    """
    spans, bounds = list[tuple[int, int]](), dict[int, ContributionBounds]()
    for written in _find_written_bounds(lexed, clause, older=older):
        offset = lexed.tokens[written.function].start + len(_OLDER) * _is_older(lexed, written.function)
        if offset in bounds:
            raise lexed.refuse_at(written.first, "bounds-repeated")
        bounds[offset] = written.bound
        spans.append((lexed.tokens[written.first].start, lexed.tokens[written.last].end + 1))
    if older:
        starts = (token.start for index, token in enumerate(lexed.tokens) if _is_older(lexed, index))
        spans += ((start, start + len(_OLDER)) for start in starts)
    return spans, bounds


def _find_written_bounds(lexed: TokenizedText, clause: range, *, older: bool) -> Iterator[_WrittenBounds]:
    """Walk the tokens, with the brackets that are open around each."""
    around: list[int] = []
    for index in range(len(lexed.tokens)):
        if lexed.turn(index) > 0:
            around.append(index)
        elif lexed.turn(index) < 0 and around:
            around.pop()
        opening = around[-1] if around else -1
        if index in clause:
            continue
        if lexed.word(index + 1) == "=>" and (clause or lexed.word(index) in _PER):
            yield _read_named_bounds(lexed, index, opening)
        elif older and (lexed.word(index), lexed.word(index + 1)) == ("clamped", "between"):
            yield _read_clamped_bounds(lexed, index, opening)


def _is_older(lexed: TokenizedText, index: int) -> bool:
    word = lexed.word(index)
    return word.startswith(_OLDER) and word[len(_OLDER) :] in _AGGREGATES and lexed.word(index + 1) == "("


def _read_named_bounds(lexed: TokenizedText, index: int, opening: int) -> _WrittenBounds:
    """Read `, contribution_bounds_per_group => (low, high)`."""
    name = lexed.word(index)
    if name not in _PER:
        raise lexed.decline(index, "argument-unsupported", argument=name, arguments=tuple(_PER))
    items, closing = lexed.items(index + 2) if lexed.word(index + 2) == "(" else ([], index + 2)
    if lexed.word(index - 1) != "," or lexed.word(closing + 1) not in (",", ")") or len(items) != 2:
        raise lexed.refuse_at(index, "bounds-argument-malformed", argument=name)
    function = _function(lexed, index, opening)
    if _PER[name] not in _AGGREGATES[function]:
        raise lexed.refuse_at(
            index,
            "bounds-argument-unknown",
            function=function.upper(),
            argument=name,
            per=_AGGREGATES[function][0],
        )
    return _WrittenBounds(opening - 1, index - 1, closing, _bound(lexed, items[0], items[1], _PER[name]))


def _read_clamped_bounds(lexed: TokenizedText, index: int, opening: int) -> _WrittenBounds:
    """Read `CLAMPED BETWEEN low AND high`; it clamps what BigQuery's own bound of that aggregate clamps."""
    function = _function(lexed, index, opening)
    end = next((i for i in range(index, len(lexed.tokens)) if lexed.word(i) == ")"), len(lexed.tokens))
    middle = next((i for i in range(index, end) if lexed.word(i) == "and"), end)
    bound = _bound(lexed, range(index + 2, middle), range(middle + 1, end), _AGGREGATES[function][0])
    return _WrittenBounds(opening - 1, index, end - 1, bound)


def _function(lexed: TokenizedText, index: int, opening: int) -> str:
    """Return the name of the aggregate around a bound."""
    name = lexed.word(opening - 1).removeprefix(_OLDER)
    if name not in _AGGREGATES or lexed.word(opening) != "(" or lexed.word(opening - 2) == ".":
        raise lexed.refuse_at(index, "bounds-outside-aggregate", functions=tuple(map(str.upper, _AGGREGATES)))
    return name


def _bound(lexed: TokenizedText, lower: range, upper: range, per: Per) -> ContributionBounds:
    low, high = lexed.number(lower), lexed.number(upper)
    if low is None or high is None:
        place = lower.start if low is None else upper.start
        raise lexed.refuse_at(place, "bounds-not-two")
    if max(abs(low), abs(high)) > _MOST:
        raise lexed.refuse_at(lower.start, "bounds-too-far")
    if low > high:
        raise lexed.refuse_at(lower.start, "bounds-reversed")
    return ContributionBounds(low, high, per)


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
) -> tuple[str, PrivacyClause | None, Mapping[int, ContributionBounds]]:
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
    lexed = TokenizedText.of(sql)
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


def _find(lexed: TokenizedText) -> int | None:
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


def _opens(lexed: TokenizedText, index: int) -> bool:
    """Tell the clause from a common table expression that has its name: `WITH anonymization AS (...)`."""
    named = lexed.word(index) == "with" and lexed.word(index + 1) in _CLAUSES
    return named and (lexed.word(index - 1) == "select" or lexed.word(index + 2) == "options")


def _check_place(lexed: TokenizedText, index: int, outermost: int | None) -> None:
    name = lexed.word(index + 1).upper()
    if name == "AGGREGATION_THRESHOLD":
        raise lexed.decline(index, "bigquery-aggregation-threshold")
    if lexed.word(index - 1) != "select":
        raise lexed.refuse_at(index, "privacy-clause-misplaced", clause=name)
    if index - 1 != outermost:
        raise lexed.decline(index, "privacy-clause-inner", clause=name)


def _read(lexed: TokenizedText, place: int) -> tuple[PrivacyClause, int]:
    """Read the clause whose WITH is at `place`; return it and the index of the parenthesis that closes it."""
    if lexed.word(place + 2) != "options" or lexed.word(place + 3) != "(":
        name = lexed.word(place + 1).upper()
        raise lexed.refuse_at(place, "privacy-clause-without-options", clause=name)
    items, closing = lexed.items(place + 3)
    options: dict[str, range] = {}
    for item in items if closing > place + 4 else ():
        meaning = _name(lexed, item)
        if meaning in options:
            raise lexed.refuse_at(item.start, "privacy-option-repeated", option=lexed.word(item.start))
        options[meaning] = item[2:]
    if "max_groups" in options and "max_rows" in options:
        raise lexed.refuse_at(options["max_rows"].start - 2, "privacy-options-exclusive")
    return _clause(lexed, options, lexed.position(place)), closing


def _name(lexed: TokenizedText, item: range) -> str:
    """Return what an item `name = value` sets, or refuse it."""
    name = lexed.word(item.start)
    if len(item) and name not in _MEANING:
        raise lexed.refuse_at(
            item.start, "privacy-option-unknown", option=lexed.text(item[:1]), options=tuple(_KNOWN)
        )
    if len(item) < 3 or lexed.word(item.start + 1) != "=":
        raise lexed.refuse_at(item.start, "privacy-option-malformed", options=tuple(_KNOWN))
    return _MEANING[name]


def _clause(lexed: TokenizedText, options: Mapping[str, range], position: tuple[int, int]) -> PrivacyClause:
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


def _epsilon(lexed: TokenizedText, value: range | None) -> Fraction | None:
    number = None if value is None else lexed.number(value)
    if value is not None and (number is None or number <= 0):
        raise lexed.refuse_at(value.start, "privacy-option-epsilon")
    return number


def _delta(lexed: TokenizedText, value: range | None) -> Fraction | None:
    number = None if value is None else lexed.number(value)
    if value is not None and (number is None or not 0 <= number < 1):
        raise lexed.refuse_at(value.start, "privacy-option-delta")
    return number


def _whole(lexed: TokenizedText, value: range | None) -> int | None:
    if value is None:
        return None
    text = lexed.text(value)
    if not _WHOLE.fullmatch(text) or int(text) == 0:
        option = lexed.word(value.start - 2)
        raise lexed.refuse_at(value.start, "privacy-option-whole", option=option)
    return int(text)


def _unit(lexed: TokenizedText, value: range | None) -> tuple[str | None, str | None]:
    """Return the table, where one is written, and the column."""
    if value is None:
        return None, None
    match = _PATH.fullmatch(lexed.text(value))
    if match is None:
        raise lexed.refuse_at(value.start, "privacy-option-unit")
    return None if match[1] is None else _unquote(match[1]), _unquote(match[2])


def _unquote(name: str) -> str:
    return name[1:-1].replace('""', '"') if name[0] == '"' else name.strip("`")


def _selection(lexed: TokenizedText, value: range | None) -> str | None:
    text = None if value is None else lexed.text(value).upper()
    if value is not None and text not in _STRATEGIES:
        raise lexed.refuse_at(value.start, "privacy-option-strategy", strategies=tuple(_STRATEGIES))
    return text
