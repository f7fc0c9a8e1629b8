"""Define the arguments and options that several verbs share, and read what they name.

One word means one thing in every verb. Numbers arrive as text, so that they are read exactly and a wrong one is
explained by the name of its option.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from jali.cli.output import check_confidence
from jali.errors import CatalogError, Field, JaliError, LedgerError, MechanismError, Phrase, QueryError
from jali.postgres_address import is_address

if TYPE_CHECKING:
    from jali.catalog.columns import Range
    from jali.database import Database
    from jali.planner.terms import TermArguments
    from jali.sql.question_limits import Limits


DatabasePath = Annotated[
    str,
    typer.Argument(
        metavar="DATABASE", help="The database file, such as clinic.jali; or postgresql://USER@HOST/NAME."
    ),
]
Question = Annotated[
    str, typer.Argument(metavar="SQL", help="One SELECT statement; [bold]-[/bold] reads it from stdin.")
]
Epsilon = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER", help="The privacy loss of the question, with Laplace noise; or give it in the SQL."
    ),
]
Delta = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER", help="For partition selection: groups without declared keys, and --min-people."
    ),
]
MaxRows = Annotated[
    int | None, typer.Option(metavar="NUMBER", help="Contribution bound: rows per person; as declared by default.")
]
MaxGroups = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="Contribution bound: groups per person, with partition selection."),
]
MinPeople = Annotated[
    int | None, typer.Option(metavar="NUMBER", help="Release only groups of at least this many people.")
]
Within = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]NUMBER",
        help="A margin of error instead of a loss, for all outputs or one; Jali finds the loss.",
    ),
]
NoiseName = Annotated[
    str | None, typer.Option("--noise", metavar="NAME", help="With --within: laplace (epsilon) or gaussian (rho).")
]
GroupRows = Annotated[
    int | None, typer.Option(metavar="NUMBER", help="A public estimate of the rows per group, for forecasts only.")
]
PartName = Annotated[
    str | None,
    typer.Option("--part", metavar="COLUMN=KEY", help="Only the subpopulation with this declared key."),
]
Relation = Annotated[
    str | None, typer.Option(metavar="NAME", help="The table inside a DuckDB file or a database: clinic.visits.")
]
Rho = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="The privacy loss in zCDP instead, with Gaussian noise.")
]
Analyst = Annotated[str | None, typer.Option(metavar="NAME", help="The analyst whose grant is charged as well.")]
Confidence = Annotated[float, typer.Option(metavar="NUMBER", help="The confidence of the intervals.")]
BudgetEpsilon = Annotated[
    str, typer.Option("--epsilon", metavar="NUMBER", help="The epsilon of the budget, which never resets.")
]
BudgetDelta = Annotated[
    str, typer.Option("--delta", metavar="NUMBER", help="The delta of the budget, which never resets.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document instead of text.")]


@dataclass(frozen=True)
class QuestionTerms:
    """The terms of a question, as options give them, and the confidence of the intervals that are shown."""

    terms: TermArguments
    confidence: float


def _collect_terms(
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    max_rows: MaxRows = None,
    max_groups: MaxGroups = None,
    min_people: MinPeople = None,
    part: PartName = None,
    within: Within = None,
    confidence: Confidence = 0.95,
    noise: NoiseName = None,
    group_rows: GroupRows = None,
) -> QuestionTerms:
    """Return the terms that the options of a question give."""
    terms: TermArguments = {
        "epsilon": epsilon,
        "rho": rho,
        "delta": delta,
        "max_rows": max_rows,
        "max_groups": max_groups,
        "min_people": min_people,
        "part": read_part(part),
        "within": read_within(within),
        "noise": noise,
        "group_rows": group_rows,
    }
    check_confidence(confidence)
    return QuestionTerms(terms | {"confidence": confidence} if within else terms, confidence)


def take_question_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of a question in place of its parameter `asked`, which is a `QuestionTerms`."""
    hints, shared = get_type_hints(verb, include_extras=True), signature(_collect_terms).parameters
    options = get_type_hints(_collect_terms, {**globals(), "QuestionTerms": Any}, include_extras=True)
    parameters = [
        each.replace(annotation=(options if each.name in shared else hints)[each.name])
        for own in signature(verb).parameters.values()
        for each in (shared.values() if own.name == "asked" else (own,))
    ]

    @wraps(verb)
    def run(**given: Any) -> None:
        asked = _collect_terms(**{name: given.pop(name) for name in shared})
        verb(asked=asked, **given)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # as inspect documents it
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def read_part(text: str | None) -> dict[str, str] | None:
    """Read COLUMN=KEY; the key is what follows the last equality sign, so that a column may be an expression."""
    if text is None:
        return None
    by, sign, key = text.rpartition("=")
    if not sign or not by.strip():
        raise QueryError("part-option-malformed", given=text)
    return {by.strip(): key.strip()}


def read_within(texts: list[str] | None) -> str | dict[str, str] | None:
    """Read NUMBER, or NAME=NUMBER for some outputs.

    Example:
        >>> read_within(["20"]), read_within(["n=20", "age=0.5"])
        ('20', {'n': '20', 'age': '0.5'})
    """
    if not texts:
        return None
    found = [text.rpartition("=") for text in texts]
    named = {name.strip(): number.strip() for name, sign, number in found if sign}
    if not named and len(texts) == 1:
        return texts[0]
    if len(named) < len(texts):
        raise QueryError("within-option-ambiguous", given=tuple(texts))
    return dict(named)


ErrorType = TypeVar("ErrorType", bound=JaliError)


def _check_value(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """Refuse an option whose value was forgotten, so that the next option was read as its value."""
    if value is not None and value.startswith("--"):
        raise CatalogError(
            "option-value-missing", option=parameter.opts[0], given=value, command=context.command_path
        )
    return value


def number_option(help_: str) -> Any:
    """Return an option that takes a number."""
    # Text, so that a number is read exactly and a wrong one is explained here.
    return typer.Option(metavar="NUMBER", help=help_, callback=_check_value)


def read_whole_number(text: str | None, option: str, *, example: int = 1000) -> int | None:
    """Return the whole number that an option gives, also one written as 1e3; an error gives an example."""
    from jali.privacy.rationals import rational

    if text is None:
        return None
    with suppress(CatalogError):
        value = rational(text, option)
        if value >= 1 and value.denominator == 1:
            return int(value)
    raise CatalogError("option-not-a-count", option=option, given=text, example=example)


def read_confidence(text: str | None) -> float:
    """Return the confidence that --confidence gives, 0.95 by default."""
    from jali.privacy.rationals import rational

    confidence = 0.95 if text is None else float(rational(text, "--confidence"))
    check_confidence(confidence)
    return confidence


@contextmanager
def rename_parameters(options: Mapping[str, str]) -> Iterator[None]:
    """Let an error that begins with the name of a parameter begin with that of its option."""
    try:
        yield
    except (CatalogError, MechanismError) as error:
        raise rename_in_error(error, options).like(CatalogError) from None


def rename_in_error(error: ErrorType, options: Mapping[str, str]) -> ErrorType:
    """Return an error that names the option where it named the parameter."""
    return error.replace(**{name: _rename_field(name, value, options) for name, value in error.fields.items()})


def _rename_field(name: str, value: Field, options: Mapping[str, str]) -> Field:
    if isinstance(value, Phrase):
        return Phrase(value.code, **{own: _rename_field(own, held, options) for own, held in value.fields.items()})
    return options.get(value, value) if name == "name" and isinstance(value, str) else value


_SQLITE = b"SQLite format 3\0"


def open_database(path: str, limits: Limits | None = None) -> Database:
    """Open a database; only `jali init` makes one, so that a typing error does not."""
    from jali.connection import open_local

    if not is_address(path) and Path(path).is_file():
        _check_file_kind(Path(path))
    return open_local(path, create=False, limits=limits)


def _check_file_kind(path: Path) -> None:
    """Refuse another kind of file before its rights are: who names the data must not be told to change them.

    A file with the rights of a ledger is left to SQLite, whose locks a second opening could drop.
    """
    if not path.stat().st_mode & 0o077 or not os.access(path, os.R_OK):
        return
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            raise LedgerError("ledger-not-a-ledger", path=path)


def read_question(sql: str) -> str:
    """Return the question, from stdin for `-`."""
    text = sys.stdin.read() if sql == "-" else sql
    if not text.strip():
        raise QueryError("question-option-empty")
    return text


StreamName = Annotated[str, typer.Argument(metavar="NAME", help="The name of the stream.")]

# A column that is named before its keys, as `jali protect` has it.
_COLUMN_PREFIX = re.compile(r"[A-Za-z_]\w*(:\w+)?=")

# The parameters of a stream, and the options that set them.
_STREAM_OPTIONS = {
    "horizon": "--horizon",
    "unit": "--unit",
    "measure": "--measure",
    "keys": "--keys",
    "value": "--range",
    "bins": "--bins",
    "every": "--every",
    "start": "--start",
    "until": "--until",
    "tick": "--tick",
    "max_ticks": "--max-ticks",
    "separation": "--separation",
    "max_items": "--max-items",
    "last": "--last",
    "restart": "--restart",
    "mechanism": "--mechanism",
    "epsilon": "--epsilon",
    "delta": "--delta",
    "rho": "--rho",
    "query": "--query",
    "confidence": "--confidence",
}


def read_horizon(text: str | None, *, windowed: bool) -> int | None:
    """Return the number of ticks that --horizon gives; None for a stream without a horizon."""
    if text is None and windowed:
        return None
    if text is None:
        raise CatalogError("stream-option-horizon-missing")
    return None if text.lower() == "none" else read_whole_number(text, "--horizon")


def read_stream_keys(text: str) -> list[Any]:
    """Read the keys of a stream: `A,B,C`, or `@file` with one in each line."""
    from jali.cli.column_options import read_keys

    if _COLUMN_PREFIX.match(text):
        raise CatalogError("stream-keys-option-with-column", given=text)
    found = list(read_keys(f"keys={text}")[1].values) if text.strip() else [""]
    if "" in found:
        raise CatalogError("stream-keys-option-empty")
    return found


def read_stream_range(text: str) -> Range:
    """Read the range of a stream's values: `0:240`."""
    from jali.catalog.columns import Range
    from jali.privacy.rationals import rational

    low, colon, high = (part.strip() for part in text.partition(":"))
    if not (low and colon and high) or ":" in high:
        raise CatalogError("stream-range-option-malformed", given=text)
    return Range(rational(low, "--range"), rational(high, "--range"))


def rename_stream_parameters() -> AbstractContextManager[None]:
    """Let an error about a parameter of a stream name the option that sets it."""
    return rename_parameters(_STREAM_OPTIONS)
