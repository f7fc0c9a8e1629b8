"""Read SQL's scalar functions as nodes: a table of those that are read, and of those that are refused and why."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlglot import exp

from jali.errors import Field, QueryError
from jali.ir.expressions import Call, Expression, Literal
from jali.ir.functions.date_functions import PARTS
from jali.ir.functions.text_functions import MOST_REPEATED, is_pattern

if TYPE_CHECKING:
    from jali.sql.reader.read_expression import ExpressionReader

_LONGEST = 1000
_LARGEST = 10**6
_WIDEST = 10**150


@dataclass(frozen=True)
class Constant:
    """What a place takes that must be the same for all rows."""

    takes: str
    holds: Callable[[object], bool]


def _is_whole(value: object, largest: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= largest


_TEXT = Constant(
    f"a constant text of at most {_LONGEST:,} characters", lambda v: isinstance(v, str) and len(v) <= _LONGEST
)
_WHOLE = Constant(
    f"a constant whole number up to {_LARGEST:,}",
    lambda v: _is_whole(v, _LARGEST),
)
_NUMBER = Constant(
    "a constant number",
    lambda v: (isinstance(v, Fraction) and abs(v) <= _WIDEST) or _is_whole(v, _WIDEST),
)
_DIGITS = Constant("a constant number of digits from -15 to 15", lambda v: _is_whole(v, 15))
_PATTERN = Constant(
    f"a constant text that is a regular expression of RE2, with {MOST_REPEATED:,} repetitions at most",
    lambda v: isinstance(v, str) and len(v) <= _LONGEST and is_pattern(v),
)


@dataclass(frozen=True)
class FunctionForm:
    """A function whose arguments sqlglot keeps in named places.

    Attributes:
        name: How nodes call it.
        places: Where its arguments are, in order.
        constants: Which of them must be constants.
        ignored: What sqlglot adds that says nothing new.
    """

    name: str
    places: tuple[str, ...] = ("this",)
    constants: Mapping[str, Constant] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()


_BOTH = ("this", "expression")
_PATTERNED = {"expression": _PATTERN}
_WORDS = {"expression": _TEXT}
_JOINED = frozenset({"safe", "coalesce"})
_FORMS: dict[type[exp.Expression], FunctionForm] = {
    exp.IntDiv: FunctionForm("//", _BOTH),
    exp.Mod: FunctionForm("%", _BOTH),
    exp.Pow: FunctionForm("power", _BOTH),
    exp.Sign: FunctionForm("sign"),
    exp.Floor: FunctionForm("floor"),
    exp.Ceil: FunctionForm("ceil"),
    exp.Trunc: FunctionForm("trunc"),
    exp.Round: FunctionForm("round", ("this", "decimals"), {"decimals": _DIGITS}),
    exp.Sqrt: FunctionForm("sqrt"),
    exp.Ln: FunctionForm("ln"),
    exp.Exp: FunctionForm("exp"),
    exp.IsNan: FunctionForm("isnan"),
    exp.IsInf: FunctionForm("isinf"),
    exp.Nullif: FunctionForm("nullif", _BOTH),
    exp.WidthBucket: FunctionForm(
        "width_bucket",
        ("this", "min_value", "max_value", "num_buckets"),
        {"min_value": _NUMBER, "max_value": _NUMBER, "num_buckets": _WHOLE},
    ),
    exp.NullSafeEQ: FunctionForm("is not distinct from", _BOTH),
    exp.NullSafeNEQ: FunctionForm("is distinct from", _BOTH),
    exp.Like: FunctionForm("like", _BOTH, _WORDS, frozenset({"negate"})),
    exp.ILike: FunctionForm("ilike", _BOTH, _WORDS, frozenset({"negate"})),
    exp.StartsWith: FunctionForm("starts_with", _BOTH),
    exp.EndsWith: FunctionForm("ends_with", _BOTH),
    exp.Contains: FunctionForm("contains", _BOTH, _WORDS),
    exp.RegexpLike: FunctionForm("regexp_matches", _BOTH, _PATTERNED),
    exp.RegexpFullMatch: FunctionForm("regexp_full_match", _BOTH, _PATTERNED),
    exp.Lower: FunctionForm("lower"),
    exp.Upper: FunctionForm("upper"),
    exp.Length: FunctionForm("length"),
    exp.Substring: FunctionForm("substring", ("this", "start", "length"), {"start": _WHOLE, "length": _WHOLE}),
    exp.Left: FunctionForm("left", _BOTH, {"expression": _WHOLE}),
    exp.Right: FunctionForm("right", _BOTH, {"expression": _WHOLE}),
    exp.Concat: FunctionForm("concat", ("expressions",), ignored=_JOINED),
    exp.DPipe: FunctionForm("||", _BOTH, ignored=_JOINED),
    exp.Replace: FunctionForm("replace", (*_BOTH, "replacement"), {"expression": _TEXT, "replacement": _TEXT}),
    exp.StrPosition: FunctionForm("strpos", ("this", "substr"), {"substr": _TEXT}),
    exp.Date: FunctionForm("date"),
    exp.Year: FunctionForm("year"),
    exp.Quarter: FunctionForm("quarter"),
    exp.Month: FunctionForm("month"),
    exp.Week: FunctionForm("week"),
    exp.WeekOfYear: FunctionForm("week"),
    exp.Day: FunctionForm("day"),
    exp.DayOfMonth: FunctionForm("day"),
    exp.DayOfWeek: FunctionForm("dayofweek"),
    exp.DayOfWeekIso: FunctionForm("isodow"),
    exp.DayOfYear: FunctionForm("dayofyear"),
    exp.Hour: FunctionForm("hour"),
    exp.Minute: FunctionForm("minute"),
    exp.Second: FunctionForm("second"),
    exp.LastDay: FunctionForm("last_day"),
    exp.Monthname: FunctionForm("monthname"),
    exp.Dayname: FunctionForm("dayname"),
}
_NAMED: dict[str, FunctionForm] = {
    "prefix": FunctionForm("starts_with", ("0", "1")),
    "suffix": FunctionForm("ends_with", ("0", "1")),
    "isfinite": FunctionForm("isfinite", ("0",)),
    "weekday": FunctionForm("dayofweek", ("0",)),
    "clamp": FunctionForm("clamp", ("0", "1", "2"), {"1": _NUMBER, "2": _NUMBER}),
}
_EXTRACTED = {
    **{part: part for part in PARTS},
    "weekofyear": "week",
    "dow": "dayofweek",
    "dayofweek": "dayofweek",
    "weekday": "dayofweek",
    "isodow": "isodow",
    "doy": "dayofyear",
    "dayofyear": "dayofyear",
    "dayofmonth": "day",
}
# An interval is so many months, days or seconds.
_STEPS = {
    "year": ("months", 12),
    "quarter": ("months", 3),
    "month": ("months", 1),
    "week": ("days", 7),
    "day": ("days", 1),
    "hour": ("seconds", 3600),
    "minute": ("seconds", 60),
    "second": ("seconds", 1),
}
_CASTS: dict[object, str] = {
    **dict.fromkeys(
        (
            exp.DataType.Type.TINYINT,
            exp.DataType.Type.SMALLINT,
            exp.DataType.Type.INT,
            exp.DataType.Type.BIGINT,
            exp.DataType.Type.INT128,
            exp.DataType.Type.UTINYINT,
            exp.DataType.Type.USMALLINT,
            exp.DataType.Type.UINT,
            exp.DataType.Type.UBIGINT,
        ),
        "whole",
    ),
    **dict.fromkeys((exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT, exp.DataType.Type.DECIMAL), "number"),
    **dict.fromkeys((exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR, exp.DataType.Type.CHAR), "text"),
    **dict.fromkeys(
        (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPNTZ, exp.DataType.Type.DATETIME), "timestamp"
    ),
    exp.DataType.Type.DATE: "date",
    exp.DataType.Type.BOOLEAN: "boolean",
}
_TRIMS = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}

_CHANCE = "it is not a function of the row: the same question would have two answers"
_CLOCK = "it depends on when the question runs; write the date as a constant"
_GROWS = "its result grows with a value, without limit"
_LIST = "questions work on plain values, not on lists or structs"
_PLACE = "it reveals where a row is stored"
_OUTSIDE = "it looks at something other than the row"
_HASHED = "it says nothing about the value; compare the value itself"
REFUSED_FUNCTIONS: dict[str, str] = {
    **dict.fromkeys(("random", "rand", "uuid", "gen_random_uuid", "uuidv4", "uuidv7", "setseed"), _CHANCE),
    **dict.fromkeys(("nextval", "currval"), _CHANCE),
    **dict.fromkeys(("now", "today", "current_date", "current_time", "current_timestamp"), _CLOCK),
    **dict.fromkeys(("currentdate", "currenttime", "currenttimestamp", "localtime", "localtimestamp"), _CLOCK),
    **dict.fromkeys(("transaction_timestamp", "get_current_timestamp", "get_current_time"), _CLOCK),
    **dict.fromkeys(("repeat", "lpad", "rpad", "pad", "space", "bar", "format", "printf"), _GROWS),
    **dict.fromkeys(("regexp_replace", "concat_ws"), _GROWS),
    **dict.fromkeys(("range", "generate_series", "unnest", "explode", "list_value", "array_value"), _LIST),
    **dict.fromkeys(("array", "list", "struct", "map", "row", "struct_pack", "string_split", "split"), _LIST),
    **dict.fromkeys(("regexp_extract_all", "regexp_split_to_array", "string_to_array"), _LIST),
    **dict.fromkeys(("rowid", "ctid", "filename", "file_row_number"), _PLACE),
    **dict.fromkeys(
        ("getenv", "current_setting", "version", "current_user", "user", "current_database"), _OUTSIDE
    ),
    **dict.fromkeys(
        ("current_schema", "current_query", "getvariable", "read_text", "read_blob", "query"), _OUTSIDE
    ),
    **dict.fromkeys(("hash", "md5", "md5_number", "sha1", "sha256", "sha2"), _HASHED),
    "age": "intervals are not values here; write DATE_SUB('year', born, DATE '2026-01-31')",
    "error": "it would fail on some rows, and so reveal them",
}


def is_function(node: exp.Expression) -> bool:
    """Say whether a node is a scalar function that is read here."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _NAMED or node.name.lower() in _NAMED_READERS
    if isinstance(node, exp.Add | exp.Sub):
        return _is_interval(node.expression) or (isinstance(node, exp.Add) and _is_interval(node.this))
    return type(node) in _FORMS or type(node) in _READERS


def read_function(reader: ExpressionReader, node: exp.Expression, depth: int) -> Expression:
    """Read a scalar function."""
    reading = _Reading(reader, node, depth)
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        return _NAMED_READERS[name](reading) if name in _NAMED_READERS else reading.read_named(_NAMED[name])
    special = _READERS.get(type(node))
    return special(reading) if special is not None else reading.read_form(_FORMS[type(node)])


@dataclass(frozen=True)
class _Reading:
    reader: ExpressionReader
    node: exp.Expression
    depth: int

    def one(self, node: exp.Expression) -> Expression:
        return self.reader.read(node, self.depth + 1)

    def call(self, name: str, *arguments: Expression) -> Expression:
        return Call(name, arguments, self.reader.position(self.node))

    def wrong(self, code: str, /, **fields: Field) -> QueryError:
        return QueryError(code, position=self.reader.position(self.node), **fields)

    def knows(self, *places: str) -> None:
        """Refuse whatever else sqlglot hangs on the node: it would change the meaning."""
        extra = [place for place, value in self.node.args.items() if value and place not in places]
        if extra:
            raise self.reader.refuse(
                self.node, "construct-unsupported", construct=self.node.key.upper(), clause=extra[0].upper()
            )

    def read_form(self, form: FunctionForm) -> Expression:
        self.knows(*form.places, *form.ignored)
        arguments = []
        for place in form.places:
            value = self.node.args.get(place)
            given = value if isinstance(value, list) else [] if value is None else [value]
            arguments += [self.argument(form, place, item) for item in given]
        call = self.call(form.name, *arguments)
        return self.call("not", call) if self.node.args.get("negate") else call

    def read_named(self, form: FunctionForm) -> Expression:
        if len(self.node.expressions) != len(form.places):
            raise self.wrong("function-arguments-wrong", function=self.node.name.upper())
        pairs = zip(form.places, self.node.expressions, strict=True)
        return self.call(form.name, *(self.argument(form, place, item) for place, item in pairs))

    def argument(self, form: FunctionForm, place: str, node: exp.Expression) -> Expression:
        argument, expected = self.one(node), form.constants.get(place)
        if expected is None or (isinstance(argument, Literal) and expected.holds(argument.value)):
            return argument
        name = form.name.upper()
        raise QueryError(
            "function-argument-kind",
            position=self.reader.position(node),
            function=name,
            takes=expected.takes,
            constant=bool(isinstance(argument, Literal)),
        )

    def part(self, written: exp.Expression | None, known: Mapping[str, str]) -> str:
        """Return the part of a date that a unit names."""
        word = "" if written is None else written.name.lower()
        part = known.get(word) or known.get(word.removesuffix("s"))
        if part is None:
            raise self.wrong("date-part-unknown", given=word, parts=tuple(known))
        return part


_PARTS = {part: part for part in PARTS}


def _logarithm(reading: _Reading) -> Expression:
    """LOG(a) is to base 10; sqlglot reads LOG2(a) as LOG(2, a)."""
    reading.knows("this", "expression")
    base, value = reading.node.this, reading.node.expression
    if value is None:
        return reading.call("log10", reading.one(base))
    name = {"10": "log10", "2": "log2"}.get(base.this if isinstance(base, exp.Literal) else "")
    if name is None:
        raise reading.reader.refuse(reading.node, "log-base")
    return reading.call(name, reading.one(value))


def _trim(reading: _Reading) -> Expression:
    reading.knows("this", "expression", "position")
    form = FunctionForm(_TRIMS[str(reading.node.args.get("position") or "")], _BOTH, _WORDS)
    given = [(place, reading.node.args.get(place)) for place in _BOTH]
    return reading.call(form.name, *(reading.argument(form, p, item) for p, item in given if item is not None))


def _regexp(reading: _Reading) -> Expression:
    """The option 'i' goes into the pattern, where RE2 reads it too."""
    flag = reading.node.args.get("flag")
    if flag is not None and flag.name not in ("i", "c"):
        raise reading.reader.refuse(reading.node, "regexp-option")
    form = _FORMS[type(reading.node)]
    value, pattern = (reading.argument(form, place, reading.node.args[place]) for place in form.places)
    assert isinstance(pattern, Literal)
    if flag is not None and flag.name == "i":
        pattern = Literal(f"(?i){pattern.value}", pattern.position)
    return reading.call(form.name, value, pattern)


def _extract(reading: _Reading) -> Expression:
    reading.knows("this", "expression")
    return reading.call(reading.part(reading.node.this, _EXTRACTED), reading.one(reading.node.expression))


def _date_part(reading: _Reading) -> Expression:
    part, value = _arguments(reading, 2)
    return reading.call(reading.part(part, _EXTRACTED), reading.one(value))


def _date_sub(reading: _Reading) -> Expression:
    part, one, other = _arguments(reading, 3)
    return reading.call(f"sub {reading.part(part, _PARTS)}", reading.one(one), reading.one(other))


def _iff(reading: _Reading) -> Expression:
    return reading.call("case", *(reading.one(item) for item in _arguments(reading, 3)))


def _arguments(reading: _Reading, count: int) -> list[exp.Expression]:
    given: list[exp.Expression] = reading.node.expressions
    if len(given) != count:
        raise reading.wrong("function-argument-count", function=reading.node.name.upper(), count=count)
    return given


def _if(reading: _Reading) -> Expression:
    reading.knows("this", "true", "false")
    otherwise = reading.node.args.get("false")
    last = Literal(None) if otherwise is None else reading.one(otherwise)
    return reading.call("case", reading.one(reading.node.this), reading.one(reading.node.args["true"]), last)


def _truncate(reading: _Reading) -> Expression:
    reading.knows("this", "unit")
    return reading.call(f"trunc {reading.part(reading.node.args['unit'], _PARTS)}", reading.one(reading.node.this))


def _difference(reading: _Reading) -> Expression:
    """Sqlglot keeps the later date first."""
    reading.knows("this", "expression", "unit", "date_part_boundary")
    part = reading.part(reading.node.args.get("unit"), _PARTS)
    return reading.call(f"diff {part}", reading.one(reading.node.expression), reading.one(reading.node.this))


def _is_interval(node: object) -> bool:
    return isinstance(node, exp.Interval)


def _read_date_shift(reading: _Reading) -> Expression:
    reading.knows("this", "expression")
    node = reading.node
    value, interval = (node.expression, node.this) if _is_interval(node.this) else (node.this, node.expression)
    return _shift_date(reading, value, interval, -1 if isinstance(node, exp.Sub) else 1)


def _shift_date(reading: _Reading, value: exp.Expression, interval: exp.Expression, sign: int) -> Expression:
    unit, step = _STEPS[reading.part(interval.args.get("unit") or exp.var(interval.name), _PARTS)]
    amount = sign * step * _amount(reading, interval.this)
    return reading.call(f"add {unit}", reading.one(value), Literal(amount))


def _amount(reading: _Reading, node: exp.Expression) -> int:
    inner = node.this if isinstance(node, exp.Paren | exp.Neg) else node
    written = inner.name if isinstance(inner, exp.Literal) else ""
    if not written.lstrip("-").isdecimal() or not written.isascii() or len(written) > 6:
        raise reading.wrong("interval-malformed")
    return -int(written) if isinstance(node, exp.Neg) else int(written)


def _date_add(reading: _Reading) -> Expression:
    reading.knows("this", "expression")
    if not _is_interval(reading.node.expression):
        raise reading.wrong("date-add-interval")
    return _shift_date(reading, reading.node.this, reading.node.expression, 1)


def _read_make_date(reading: _Reading) -> Expression:
    reading.knows("year", "month", "day")
    parts = [reading.one(reading.node.args[place]) for place in ("year", "month", "day")]
    numbers = [p.value for p in parts if isinstance(p, Literal) and type(p.value) is int]
    try:
        return Literal(datetime.date(*numbers), reading.reader.position(reading.node))
    except (ValueError, TypeError, OverflowError):
        raise reading.wrong("make-date-constants") from None


def _cast(reading: _Reading) -> Expression:
    reading.knows("this", "to", "safe")
    name = _CASTS.get(reading.node.args["to"].this)
    if name is None:
        raise reading.reader.refuse(reading.node, "cast-unsupported")
    value = reading.one(reading.node.this)
    if name in _MOMENTS and isinstance(value, Literal) and isinstance(value.value, str):
        return _moment(reading, name, value.value)
    return reading.call(name, value)


_MOMENTS: dict[str, type[datetime.date]] = {"date": datetime.date, "timestamp": datetime.datetime}


def _moment(reading: _Reading, name: str, written: str) -> Expression:
    """DATE '2026-01-31' is a constant."""
    try:
        value = _MOMENTS[name].fromisoformat(written)
    except ValueError:
        value = None
    if value is None or getattr(value, "tzinfo", None) is not None:
        raise reading.wrong("date-literal-malformed", given=written, kind=name)
    return Literal(value, reading.reader.position(reading.node))


_NAMED_READERS: dict[str, Callable[[_Reading], Expression]] = {
    "date_part": _date_part,
    "datepart": _date_part,
    "date_sub": _date_sub,
    "datesub": _date_sub,
    "iff": _iff,
}
_READERS: dict[type[exp.Expression], Callable[[_Reading], Expression]] = {
    exp.Add: _read_date_shift,
    exp.Sub: _read_date_shift,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.DateAdd: _date_add,
    exp.DateDiff: _difference,
    exp.DateFromParts: _read_make_date,
    exp.DateTrunc: _truncate,
    exp.Extract: _extract,
    exp.If: _if,
    exp.Log: _logarithm,
    exp.RegexpLike: _regexp,
    exp.TimestampTrunc: _truncate,
    exp.Trim: _trim,
}
