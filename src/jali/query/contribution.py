"""The bounds that BigQuery writes into an aggregate: `SUM(x, contribution_bounds_per_group => (0, 100))`.

The older clause, WITH ANONYMIZATION, has its own spelling of the same: `ANON_SUM(x CLAMPED BETWEEN 0 AND 100)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from jali.query.lexed import Lexed

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
class Contribution:
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
class _Written:
    """A bound as it stands in the text: the index of its function's name, and its first and last token."""

    function: int
    first: int
    last: int
    bound: Contribution


def read_contributions(
    lexed: Lexed, clause: range, *, older: bool = False
) -> tuple[list[tuple[int, int]], dict[int, Contribution]]:
    """Return the stretches of the text to blank, and the bounds by the offset of their function's name.

    Args:
        lexed: The question.
        clause: The tokens of its privacy clause, which hold no aggregate; none where there is no clause.
        older: Whether aggregates are called ANON_SUM and so on. The prefix is blanked too.
    """
    spans, bounds = list[tuple[int, int]](), dict[int, Contribution]()
    for written in _written(lexed, clause, older=older):
        offset = lexed.tokens[written.function].start + len(_OLDER) * _is_older(lexed, written.function)
        if offset in bounds:
            raise lexed.refuse(written.first, "bounds-repeated")
        bounds[offset] = written.bound
        spans.append((lexed.tokens[written.first].start, lexed.tokens[written.last].end + 1))
    if older:
        starts = (token.start for index, token in enumerate(lexed.tokens) if _is_older(lexed, index))
        spans += ((start, start + len(_OLDER)) for start in starts)
    return spans, bounds


def _written(lexed: Lexed, clause: range, *, older: bool) -> Iterator[_Written]:
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
            yield _named(lexed, index, opening)
        elif older and (lexed.word(index), lexed.word(index + 1)) == ("clamped", "between"):
            yield _clamped(lexed, index, opening)


def _is_older(lexed: Lexed, index: int) -> bool:
    word = lexed.word(index)
    return word.startswith(_OLDER) and word[len(_OLDER) :] in _AGGREGATES and lexed.word(index + 1) == "("


def _named(lexed: Lexed, index: int, opening: int) -> _Written:
    """Read `, contribution_bounds_per_group => (low, high)`."""
    name = lexed.word(index)
    if name not in _PER:
        raise lexed.decline(index, "argument-unsupported", argument=name, arguments=tuple(_PER))
    items, closing = lexed.items(index + 2) if lexed.word(index + 2) == "(" else ([], index + 2)
    if lexed.word(index - 1) != "," or lexed.word(closing + 1) not in (",", ")") or len(items) != 2:
        raise lexed.refuse(index, "bounds-argument-malformed", argument=name)
    function = _function(lexed, index, opening)
    if _PER[name] not in _AGGREGATES[function]:
        raise lexed.refuse(
            index,
            "bounds-argument-unknown",
            function=function.upper(),
            argument=name,
            per=_AGGREGATES[function][0],
        )
    return _Written(opening - 1, index - 1, closing, _bound(lexed, items[0], items[1], _PER[name]))


def _clamped(lexed: Lexed, index: int, opening: int) -> _Written:
    """Read `CLAMPED BETWEEN low AND high`; it clamps what BigQuery's own bound of that aggregate clamps."""
    function = _function(lexed, index, opening)
    end = next((i for i in range(index, len(lexed.tokens)) if lexed.word(i) == ")"), len(lexed.tokens))
    middle = next((i for i in range(index, end) if lexed.word(i) == "and"), end)
    bound = _bound(lexed, range(index + 2, middle), range(middle + 1, end), _AGGREGATES[function][0])
    return _Written(opening - 1, index, end - 1, bound)


def _function(lexed: Lexed, index: int, opening: int) -> str:
    """Return the name of the aggregate around a bound."""
    name = lexed.word(opening - 1).removeprefix(_OLDER)
    if name not in _AGGREGATES or lexed.word(opening) != "(" or lexed.word(opening - 2) == ".":
        raise lexed.refuse(index, "bounds-outside-aggregate", functions=tuple(map(str.upper, _AGGREGATES)))
    return name


def _bound(lexed: Lexed, lower: range, upper: range, per: Per) -> Contribution:
    low, high = lexed.number(lower), lexed.number(upper)
    if low is None or high is None:
        place = lower.start if low is None else upper.start
        raise lexed.refuse(place, "bounds-not-two")
    if max(abs(low), abs(high)) > _MOST:
        raise lexed.refuse(lower.start, "bounds-too-far")
    if low > high:
        raise lexed.refuse(lower.start, "bounds-reversed")
    return Contribution(low, high, per)
