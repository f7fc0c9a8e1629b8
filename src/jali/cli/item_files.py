"""Read the items of a stream from a file: CSV with a header, or one JSON object per line.

A CSV record is one item, also where a quoted cell has line ends in it. Each item is read by itself, so that no
item can change how another one is read.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from jali.display.text import clean
from jali.errors import CatalogError

# Cells may be as long as the machine can hold: one that is long must not end the reading.
_LONGEST = (1 << 31) - 1
# Some writers leave a carriage return that stands alone unquoted. It is a letter of its cell, and ends no record.
_ALONE = re.compile("\r(?=\r*[^\r\n])")
# What stands for it meanwhile. No text that was decoded has it.
_MARK = "\ud800"


class CsvRecords:
    """The records of a CSV text, as lists of cells.

    A quoted cell runs up to its closing quote, over any number of lines; a quote inside it is written twice. So
    nothing that a cell holds can begin another record. Where quotes do not match, no CSV writer wrote the text,
    and nobody can tell where the next record begins: the rest of it is no records.

    Attributes:
        broken: How many lines so far are in no record.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self.broken = 0
        self._lines = lines

    def __iter__(self) -> Iterator[list[str]]:
        """Return every record; those of empty lines are left out."""
        csv.field_size_limit(_LONGEST)
        read, done = csv.reader(map(_mark_returns, self._lines), strict=True), 0
        try:
            for cells in read:
                done = read.line_num
                if len(cells) > 1 or "".join(cells).strip():
                    yield [cell.replace(_MARK, "\r") for cell in cells]
        except csv.Error:
            self.broken += read.line_num - done + sum(bool(line.strip()) for line in self._lines)


def split_cells(line: str) -> list[str]:
    """Return the cells of a line by itself; none if it is no record."""
    return next(iter(CsvRecords(iter([line]))), [])


def _mark_returns(line: str) -> str:
    return _ALONE.sub(_MARK, line) if "\r" in line else line


FIELDS = ("item", "owner", "key", "value")
# Whether a file is CSV, by the ending of its name; None where its first line tells.
ENDINGS = {".csv": True, ".jsonl": False, ".ndjson": False, ".json": False, ".txt": None, "": None}
# So many items are on disk together.
BATCH = 1000


@contextmanager
def open_items(file: str) -> Iterator[TextIO]:
    """Open a text file, or stdin for `-`: both as UTF-8, whatever the machine is set to.

    Bytes that are no letters are left to the items that have them, and only line feeds end lines.
    """
    if file == "-":
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
        yield sys.stdin
        return
    try:
        stream = Path(file).open(encoding="utf-8", errors="surrogateescape", newline="\n")  # noqa: SIM115 - left open for whoever reads
    except OSError:
        raise CatalogError("items-file-unreadable", file=file) from None
    with stream:
        yield stream


class ItemLines:
    """The items of a text, a batch at a time.

    A line of JSON and a record of CSV are one item each, read by itself, so that no item can change how another is
    read: of a CSV text this is true if a CSV writer wrote it. What is no item is counted and left out: it is no
    reason to stop, which others could see. The header of a CSV file is the curator's own: one that is wrong, or
    lacks what every item needs, is refused before the first item. A text without a header is one of JSON.

    Args:
        lines: The text, line by line.
        keys: The declared keys of the stream, if it has any: written as text, whatever their kind.
        needed: The fields that every item needs, which a header must have; None if that is not known.
        csv_file: Whether the text is known to be CSV, or not to be; None to look for a header.
    """

    def __init__(
        self,
        lines: Iterator[str],
        keys: Sequence[Any] = (),
        needed: Sequence[str] | None = None,
        *,
        csv_file: bool | None = None,
    ) -> None:
        first = next((line for line in lines if line.strip()), "").removeprefix("\ufeff")
        self._written = {str(key): key for key in keys}
        self._columns = _read_header(first, csv_file=csv_file)
        if self._columns is not None and needed is not None:
            _check_columns(self._columns, needed)
        self._no_items = 0
        self._lines = chain([first], lines) if self._columns is None else lines
        self._records = CsvRecords(self._lines)

    @property
    def unreadable(self) -> int:
        """How many lines or records so far were no items."""
        return self._no_items + self._records.broken

    def batches(self, size: int = BATCH) -> Iterator[list[dict[str, Any]]]:
        """Return the items, so many at a time."""
        items = self._items()
        while batch := list(islice(items, size)):
            yield batch

    def _items(self) -> Iterator[dict[str, Any]]:
        for found in self._parse_json() if self._columns is None else self._parse_csv(self._columns):
            if found is None:
                self._no_items += 1
            else:
                yield self._restore_key(found)

    def _parse_json(self) -> Iterator[dict[str, Any] | None]:
        return (_parse_line(line) for line in self._lines if line.strip())

    def _parse_csv(self, columns: Sequence[str]) -> Iterator[dict[str, Any] | None]:
        return (_parse_record(cells, columns) for cells in self._records)

    def _restore_key(self, item: dict[str, Any]) -> dict[str, Any]:
        """Put the declared key in the place of its text."""
        key = item.get("key")
        return item | {"key": self._written.get(key, key)} if isinstance(key, str) else item


def is_csv(file: str) -> bool | None:
    """Say whether a file is CSV by the ending of its name; None if that does not tell. Other files are refused."""
    ending = Path(file).suffix.lower()
    if ending not in ENDINGS:
        raise CatalogError("items-file-ending-wrong", ending=clean(ending))
    return ENDINGS[ending]


def _read_header(line: str, *, csv_file: bool | None) -> list[str] | None:
    """Return the columns of a CSV text; None for one of JSON. An empty text has no items, and no header either."""
    columns = [cell.strip().lower() for cell in split_cells(line)]
    wrong = _find_header_error(columns)
    if csv_file and wrong and line:
        raise wrong
    return None if csv_file is False or wrong else columns


def _check_columns(columns: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a header with which no item could count."""
    if missing := [name for name in needed if name not in columns]:
        raise CatalogError("items-column-missing", column=missing[0], columns=tuple(needed))
    if "owner" in columns and "owner" not in needed:
        raise CatalogError("items-owner-unwanted")


def _find_header_error(columns: Sequence[str]) -> CatalogError | None:
    if "item" not in columns:
        return CatalogError("items-without-item")
    if unknown := [column for column in columns if column not in FIELDS]:
        return CatalogError("items-column-unknown", column=clean(unknown[0]))
    return CatalogError("items-column-twice") if len(set(columns)) < len(columns) else None


def _parse_record(cells: Sequence[str], columns: Sequence[str]) -> dict[str, Any] | None:
    if len(cells) != len(columns):
        return None
    return _build_item({column: cell for column, cell in zip(columns, cells, strict=True) if cell != ""})


def _parse_line(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return _build_item(found) if isinstance(found, dict) else None


def _build_item(held: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an item whose fields are what they must be, or None."""
    if set(held) - set(FIELDS) or "item" not in held:
        return None
    made = {name: value for name, value in held.items() if value is not None}
    names = {name: _read_name(made[name]) for name in ("item", "owner") if name in made}
    if None in names.values() or "item" not in names or not _is_plain(made.get("key", "")):
        return None
    if "value" in made:
        made["value"] = _read_number(made["value"])
        if made["value"] is None:
            return None
    return made | names


def _read_name(value: Any) -> str | None:
    """Return the name of an item or an owner: text, or a whole number as text."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return str(value) if _is_plain(value) else None


def _is_plain(value: Any) -> bool:
    """Whether a value is a number, a truth value, or text that can be written down."""
    try:
        return isinstance(value, int | float) or bool(isinstance(value, str) and value.encode() is not None)
    except UnicodeEncodeError:
        return False


def _read_number(value: Any) -> float | None:
    try:
        found = float(value) if isinstance(value, str) else value
        usable = isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)
    except (ValueError, OverflowError):
        return None
    return found if usable else None
