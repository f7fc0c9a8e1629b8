"""The tree of exceptions: each holds a code, fields and a position, and is written by the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from jali.errors.fields import Field, Phrase, settle
from jali.errors.texts import Face, Written, write

Kind = TypeVar("Kind", bound="JaliError")


class JaliError(Exception):
    """Base of everything Jali raises on purpose.

    Args:
        code: What kind of error it is: a code of the catalogue, listed in docs/errors.md.
        position: Line and column (both from 1) in the SQL text, where known.
        fields: What the text of the code names: columns, tables, numbers.
    """

    def __init__(self, code: str, /, *, position: tuple[int, int] | None = None, **fields: Field) -> None:
        super().__init__(code)
        self._code, self._position = code, position
        self._fields: Mapping[str, Field] = {name: settle(value) for name, value in fields.items()}

    @property
    def code(self) -> str:
        """What kind of error it is."""
        return self._code

    @property
    def fields(self) -> Mapping[str, Field]:
        """What its text names."""
        return self._fields

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column in the SQL text, both from 1, where known."""
        return self._position

    @property
    def message(self) -> str:
        """What happened, in one sentence."""
        return self.write().message

    @property
    def remedy(self) -> str | None:
        """What the reader can do about it."""
        return self.write().remedy

    @property
    def phrase(self) -> Phrase:
        """The error inside the text of another one."""
        return Phrase(self.code, **self.fields)

    @property
    def whole(self) -> Phrase:
        """The error with its remedy inside the text of another one."""
        return Phrase("error-whole", problem=self.phrase, has_remedy=self.remedy is not None)

    def write(self, face: Face = Face.PYTHON, *, asked: Mapping[str, str] | None = None) -> Written:
        """Return message and remedy in the words of a face."""
        return write(self.code, self._shown, face, asked=asked)

    @property
    def _shown(self) -> Mapping[str, Field]:
        """The fields, and what the text needs besides."""
        return self.fields

    def replace(self, **fields: Field) -> Self:
        """Return the same error with other values of some fields."""
        return self._copy(type(self), self.position, {**self.fields, **fields})

    def at(self, position: tuple[int, int] | None) -> Self:
        """Return the same error at another position."""
        return self._copy(type(self), position, self.fields)

    def like(self, kind: type[Kind]) -> Kind:
        """Return the same text as an error of another class."""
        return self._copy(kind, self.position, self.fields)

    def _copy(self, kind: type[Kind], position: tuple[int, int] | None, fields: Mapping[str, Field]) -> Kind:
        return kind(self.code, position=position, **fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.code, self.position, dict(self.fields))

    def __str__(self) -> str:
        written = self.write()
        place = "" if self.position is None else f"line {self.position[0]}, column {self.position[1]}: "
        return place + (written.message if written.remedy is None else f"{written.message} {written.remedy}")


def _rebuild(kind: type[Kind], code: str, position: tuple[int, int] | None, fields: dict[str, Field]) -> Kind:
    return kind(code, position=position, **fields)


class QueryError(JaliError):
    """The question is wrong. Nothing was spent."""


class Unsupported(QueryError):  # noqa: N818 - the name is part of the public contract
    """The question is understood but cannot be answered. Nothing was spent."""


class CatalogError(JaliError):
    """A declaration is wrong."""


class EngineError(JaliError):
    """The engine could not run the query. The text never depends on the data.

    Its code is `engine-failed` where the data may be the cause.
    """


class LedgerError(JaliError):
    """The ledger cannot do what was asked."""


class MechanismError(JaliError):
    """A parameter or an input of a mechanism is outside its domain."""
