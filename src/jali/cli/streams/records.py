"""Records of a CSV text: one is one item, also where a quoted cell has line ends in it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

# Cells may be as long as the machine can hold: one that is long must not end the reading.
_LONGEST = (1 << 31) - 1
# Some writers leave a carriage return that stands alone unquoted. It is a letter of its cell, and ends no record.
_ALONE = re.compile("\r(?=\r*[^\r\n])")
# What stands for it meanwhile. No text that was decoded has it.
_MARK = "\ud800"


class Records:
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
        read, done = csv.reader(map(_marked, self._lines), strict=True), 0
        try:
            for cells in read:
                done = read.line_num
                if len(cells) > 1 or "".join(cells).strip():
                    yield [cell.replace(_MARK, "\r") for cell in cells]
        except csv.Error:
            self.broken += read.line_num - done + sum(bool(line.strip()) for line in self._lines)


def cells_of(line: str) -> list[str]:
    """Return the cells of a line by itself; none if it is no record."""
    return next(iter(Records(iter([line]))), [])


def _marked(line: str) -> str:
    return _ALONE.sub(_MARK, line) if "\r" in line else line
