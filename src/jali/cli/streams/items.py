"""Items of a stream in a file: CSV with a header, or one JSON object in each line."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from jali.display.text import clean
from jali.errors import CatalogError

FIELDS = ("item", "owner", "key", "value")
# So many items are on disk together.
BATCH = 1000
_HEADER = (
    "The first line of a CSV file names the columns: item, owner, and key and value where the stream has them."
)


@contextmanager
def opened(file: str) -> Iterator[TextIO]:
    """Open a text file, or stdin for `-`. Letters that are none are left to the lines that have them."""
    if file == "-":
        yield sys.stdin
        return
    try:
        stream = Path(file).open(encoding="utf-8", errors="surrogateescape", newline="")  # noqa: SIM115 - left open for whoever reads
    except OSError:
        raise CatalogError(f"The file {file} cannot be read.", remedy="Name a CSV file, or one of JSON.") from None
    with stream:
        yield stream


class ItemLines:
    """The items of a text, a batch at a time.

    Every line is read by itself, so that no item can change how another is read. Lines that are no items are
    counted and left out: they are no reason to stop, which others could see. The header of a CSV file is the
    curator's own, and one that is wrong is refused; a text without a header is one of JSON.

    Args:
        lines: The text, line by line.
        keys: The declared keys of the stream, if it has any: written as text, whatever their kind.
        csv_file: Whether the text is known to be CSV, or not to be; None to look for a header.

    Attributes:
        unreadable: How many lines so far were no items.
    """

    def __init__(self, lines: Iterator[str], keys: Sequence[Any] = (), *, csv_file: bool | None = None) -> None:
        self.unreadable = 0
        first = next((line for line in lines if line.strip()), "")
        self._written = {str(key): key for key in keys}
        self._columns = _header(first, csv_file=csv_file)
        self._lines = chain([first], lines) if self._columns is None else lines

    def batches(self, size: int = BATCH) -> Iterator[list[dict[str, Any]]]:
        """Return the items, so many at a time."""
        items = self._items()
        while batch := list(islice(items, size)):
            yield batch

    def _items(self) -> Iterator[dict[str, Any]]:
        for line in self._lines:
            if line.strip():
                found = _of_json(line) if self._columns is None else _of_csv(line, self._columns)
                if found is None:
                    self.unreadable += 1
                else:
                    yield self._declared(found)

    def _declared(self, item: dict[str, Any]) -> dict[str, Any]:
        """Put the declared key in the place of its text."""
        key = item.get("key")
        return item | {"key": self._written.get(key, key)} if isinstance(key, str) else item


def _of_csv(line: str, columns: Sequence[str]) -> dict[str, Any] | None:
    cells = _cells(line)
    if cells is None or len(cells) != len(columns):
        return None
    return _item({column: cell for column, cell in zip(columns, cells, strict=True) if cell != ""})


def is_csv(file: str) -> bool | None:
    """Say whether a file is CSV by the ending of its name; None if that does not tell."""
    return {".csv": True, ".jsonl": False, ".ndjson": False, ".json": False}.get(Path(file).suffix.lower())


def _header(line: str, *, csv_file: bool | None) -> list[str] | None:
    """Return the columns of a CSV text; None for one of JSON. An empty text has no items, and no header either."""
    columns = [cell.strip().lower() for cell in _cells(line.removeprefix("\ufeff")) or []]
    wrong = _wrong(columns)
    if csv_file and wrong and line:
        raise CatalogError(wrong, remedy=_HEADER)
    return None if csv_file is False or wrong else columns


def _wrong(columns: Sequence[str]) -> str | None:
    if "item" not in columns:
        return "The file has no column item."
    if unknown := [column for column in columns if column not in FIELDS]:
        return f"There is no place for a column {clean(unknown[0])}."
    return "The file has a column twice." if len(set(columns)) < len(columns) else None


def _cells(line: str) -> list[str] | None:
    try:
        return next(csv.reader([line.rstrip("\r\n")], strict=True), None)
    except csv.Error:
        return None


def _of_json(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return _item(found) if isinstance(found, dict) else None


def _item(held: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an item whose fields are what they must be, or None."""
    if set(held) - set(FIELDS) or "item" not in held:
        return None
    made = {name: value for name, value in held.items() if value is not None}
    names = {name: _name(made[name]) for name in ("item", "owner") if name in made}
    if None in names.values() or "item" not in names or not _plain(made.get("key", "")):
        return None
    if "value" in made:
        made["value"] = _number(made["value"])
        if made["value"] is None:
            return None
    return made | names


def _name(value: Any) -> str | None:
    """Return the name of an item or an owner: text, or a whole number as text."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return str(value) if _plain(value) else None


def _plain(value: Any) -> bool:
    """Whether a value is a number, a truth value, or text that can be written down."""
    try:
        return isinstance(value, int | float) or bool(isinstance(value, str) and value.encode() is not None)
    except UnicodeEncodeError:
        return False


def _number(value: Any) -> float | None:
    try:
        found = float(value) if isinstance(value, str) else value
        usable = isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)
    except (ValueError, OverflowError):
        return None
    return found if usable else None
