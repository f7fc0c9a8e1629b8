"""Encode any Python value as a row of doubles.

Rows have a fixed width, the same for all inputs and batches.
"""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.audit.flatten import COLLECTIONS, NUMBERS, TEXTS, Leaf, LeafKind, Leaves, flatten, hash_text

_Rows: TypeAlias = NDArray[np.float64]

# The names of texts are kept for reports, this many of them.
_MOST_WORDS = 100
# More different outputs than this in a batch are not worth looking up.
_MOST_KNOWN = 1000
_WHOLE = float(2**53)
# The kinds whose values a whole batch of can be read at once, and the types that they have.
_TYPES: dict[LeafKind, tuple[type, ...]] = {
    LeafKind.FLOAT: (float, np.float64, np.float32, np.float16),
    LeafKind.INTEGER: (int, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16, np.uint8),
    LeafKind.BOOLEAN: (bool, np.bool_),
}
# What stands for the form of an output: a column only where the form changes.
_FORMS = COLLECTIONS | {LeafKind.ORDER}
# The last columns of every row: the kinds that were not seen when the encoder was fitted, and what no other column
# says.
OTHER_KINDS, ANYTHING_ELSE = "other kinds", "anything else"
_DTYPES = {LeafKind.FLOAT: "f", LeafKind.INTEGER: "iu", LeafKind.BOOLEAN: "b"}


@dataclass(frozen=True)
class Slot:
    """One place of the outputs, and which columns it has.

    Attributes:
        place: Where it is, in words: "the output", "item 3", "key 'a'".
        kind: The only kind that was seen there; None if there were several, which have a column then.
        form: The only length of a collection, or the only order of keys; None if there were several.
        number: Whether there is a column for a number, or for a length.
        remainder: Whether there is a column for what no double holds of the number.
        text: Whether there is a column for the hash of a text.
    """

    place: str
    kind: int | None
    form: int | None = None
    number: bool = False
    remainder: bool = False
    text: bool = False

    @classmethod
    def of(cls, place: str, seen: Sequence[Leaf | None]) -> Slot:
        """Return the columns that the leaves seen at a place need; None is an output without that place."""
        found = [leaf for leaf in seen if leaf is not None]
        kinds = {leaf.kind for leaf in found}
        forms = {int(leaf.number) for leaf in found if leaf.kind in _FORMS}
        several = len(forms) > 1
        return cls(
            place,
            int(found[0].kind) if len(kinds) == 1 and len(found) == len(seen) else None,
            None if several else next(iter(forms), None),
            bool(kinds & NUMBERS) or (several and bool(kinds & COLLECTIONS)),
            any(leaf.remainder for leaf in found),
            bool(kinds & (TEXTS - _FORMS)) or (several and LeafKind.ORDER in kinds),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        name = self.place
        held = (
            (self.number, name if self._holds_value else f"length of {name}"),
            (self.remainder, f"low part of {name}"),
            (self.text, f"text of {name}" if self.number else name),
            (self.kind is None, f"kind of {name}"),
        )
        return tuple(title for there, title in held if there)

    @property
    def texts(self) -> tuple[bool, ...]:
        """Which of its columns hold hashes of texts."""
        held = ((self.number, False), (self.remainder, False), (self.text, True), (self.kind is None, False))
        return tuple(text for there, text in held if there)

    @property
    def _holds_value(self) -> bool:
        """Whether its number is one of the output's, and no length."""
        return self.kind is None or LeafKind(self.kind) not in COLLECTIONS

    @property
    def plain(self) -> bool:
        """Whether there is always a number of one kind, or a collection of one length."""
        if self.kind is None or self.remainder:
            return False
        return self.kind in _TYPES if self.kind not in _FORMS else self.form is not None

    def fits(self, leaf: Leaf) -> bool:
        """Return whether a leaf of a plain slot is a number here too, or a collection of the same form."""
        if self.kind in _FORMS:
            return leaf.kind == self.kind and leaf.number == self.form
        return leaf.kind in NUMBERS or leaf.kind is LeafKind.NAN

    def put(self, leaf: Leaf) -> list[float]:
        """Return the numbers of a leaf in its columns."""
        row = []
        if self.number:
            row.append(0.0 if leaf.kind in TEXTS else leaf.number)
        if self.remainder:
            row.append(leaf.remainder)
        if self.text:
            row.append(leaf.number if leaf.kind in TEXTS else 0.0)
        if self.kind is None:
            row.append(float(leaf.kind))
        return row

    def other(self, leaf: Leaf) -> bool:
        """Return whether a leaf is of a kind that was not seen here, and no column tells the kind."""
        return self.kind is not None and leaf.kind != self.kind

    def loses_value(self, leaf: Leaf) -> bool:
        """Return whether its columns cannot say the value of a leaf."""
        shown = self.text if leaf.kind in TEXTS else self.number
        if leaf.kind in _FORMS:
            return not shown and leaf.number != self.form
        unsaid = leaf.kind in NUMBERS | TEXTS and not shown
        return unsaid or (leaf.remainder != 0 and not self.remainder)


_ABSENT = Leaf(LeafKind.ABSENT)


@dataclass(frozen=True)
class Encoder:
    """Turns outputs into rows of doubles.

    Where the outputs that it is fitted to are plain, one number or always as many of them, a row begins with those
    numbers, to the last bit. If something else turns up later, NaN and infinities stand for themselves, and an
    output of another form has NaN in place of its numbers.

    All others have columns for numbers, and for kinds, lengths and texts where those differ. Texts are hashed; NaN
    and infinities are 0 and the largest double beside a kind that says so.

    The last two columns are 0 for outputs of the forms seen. Otherwise the first of them is a hash, at least 1, of
    the kinds that are new at their places: a minus zero, an integer in place of a float, None, the type of an
    error; the other one a hash of all values that have no column, such as those of a longer list. So equal rows
    mean outputs that look equal, up to collisions of hashes.

    Attributes:
        slots: The places of the outputs.
        words: The texts behind some hashes, for reports.

    Example:
        >>> encoder = Encoder.fit([("yes", 0.5), ("no", 1.5)])
        >>> encoder.columns
        ('item 1', 'item 2', 'other kinds', 'anything else')
        >>> encoder.encode([("yes", 0.25)])[0, 1:].tolist()
        [0.25, 0.0, 0.0]
        >>> Encoder.fit([(0.5, True)]).encode([(1.5, False), None])[:, :2].tolist()
        [[1.5, 0.0], [nan, nan]]
    """

    slots: tuple[Slot, ...]
    words: tuple[tuple[float, str], ...] = ()

    @classmethod
    def fit(cls, pilot: Iterable[Any]) -> Encoder:
        """Return the encoder for outputs like these: some of all inputs whose outputs will be compared."""
        read = [flatten(output) for output in pilot]
        places = dict.fromkeys(place for one in sorted(read, key=len, reverse=True) for place in one)
        words = {leaf.number: leaf.text for one in read for leaf in one.values() if leaf.text is not None}
        slots = (Slot.of(place, [one.get(place) for one in read]) for place in places)
        return cls(tuple(slots), tuple(sorted(words.items())[:_MOST_WORDS]))

    @classmethod
    def read(cls, text: str) -> Encoder:
        """Return the encoder that `str` wrote."""
        try:
            held = json.loads(text)
            words = tuple((float(code), str(word)) for code, word in held["words"])
            return cls(tuple(Slot(**slot) for slot in held["slots"]), words)
        except (ValueError, TypeError, KeyError):
            raise CatalogError("encoder-unknown", text=text[:40]) from None

    def __str__(self) -> str:
        return json.dumps({"slots": [asdict(slot) for slot in self.slots], "words": self.words})

    @cached_property
    def plain(self) -> bool:
        """Whether its outputs always are the same number of numbers, each of one kind."""
        return all(slot.plain for slot in self.slots) and any(slot.number for slot in self.slots)

    @property
    def cuts(self) -> bool:
        """Whether there are collections with more items than have columns of their own."""
        return any(slot.place.startswith("rest of ") for slot in self.slots)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """What each number of a row is."""
        named = chain.from_iterable(slot.columns for slot in self.slots)
        return (*named, OTHER_KINDS, ANYTHING_ELSE)

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return len(self.columns)

    def describe(self, column: int, value: float) -> str:
        """Return a number of a row in words: a text for its hash, a kind for its code."""
        if self.columns[column].startswith("kind of ") and value in set(LeafKind):
            return str(LeafKind(int(value)))
        if self.columns[column] == OTHER_KINDS:
            return self._other_kinds.get(value, f"{value:g}") if value else "none"
        text = dict(self.words).get(value)
        return f"{value:g}" if text is None or column not in self._texts else repr(text)

    @cached_property
    def _other_kinds(self) -> dict[float, str]:
        """What some codes of other kinds stand for, as far as they turned up."""
        return {}

    @cached_property
    def _texts(self) -> frozenset[int]:
        """The columns that hold hashes of texts."""
        held = chain.from_iterable(slot.texts for slot in self.slots)
        return frozenset(column for column, text in enumerate(held) if text)

    def encode(self, outputs: Sequence[Any] | NDArray[Any]) -> _Rows:
        """Return a row for each output."""
        at_once = self._at_once(outputs) if self.plain and len(outputs) else None
        if at_once is not None:
            return self._widen(at_once, outputs)
        rows = list(self._one_by_one(outputs))
        return np.array(rows, np.float64).reshape(len(rows), self.width)

    def _widen(self, numbers: _Rows, outputs: Sequence[Any] | NDArray[Any]) -> _Rows:
        """Return the rows of outputs that are plain numbers; some of them are of kinds that were not seen."""
        made = np.zeros((len(numbers), self.width))
        made[:, : numbers.shape[1]] = numbers
        odd = ~np.isfinite(numbers) | ((numbers == 0) & np.signbit(numbers))
        for place in np.flatnonzero(odd.any(axis=1)).tolist():
            made[place] = self._row(flatten(outputs[place]))
        return made

    def _one_by_one(self, outputs: Sequence[Any] | NDArray[Any]) -> Iterator[list[float]]:
        """Yield the row of each output; those that come again and again are read once."""
        known: dict[bytes, list[float]] = {}
        for output in outputs:
            key = _pickle(output) if len(known) < _MOST_KNOWN else None
            row = None if key is None else known.get(key)
            if row is None:
                row = self._row(flatten(output))
                if key is not None:
                    known[key] = row
            yield row

    def _row(self, found: Leaves) -> list[float]:
        row = self._numbers(found) if self.plain else []
        beyond = [(place, leaf) for place, leaf in found.items() if place not in self._places]
        kinds, values = list(beyond), list(beyond)
        for slot in self.slots:
            leaf = found.get(slot.place, _ABSENT)
            row += [] if self.plain else slot.put(leaf)
            kinds += [(slot.place, leaf)] if slot.other(leaf) else []
            values += [(slot.place, leaf)] if slot.loses_value(leaf) else []
        return [*row, self._code(kinds), 1 + hash_text(repr(sorted(values))) if values else 0.0]

    def _code(self, kinds: list[tuple[str, Leaf]]) -> float:
        """Return a number that stands for new kinds at their places, the same in every process; 0 for none."""
        if not kinds:
            return 0.0
        said = ", ".join(sorted(_describe_leaf(place, leaf) for place, leaf in kinds))
        code = 1 + hash_text(said)
        if len(self._other_kinds) < _MOST_WORDS:
            self._other_kinds[code] = said
        return code

    def _numbers(self, found: Leaves) -> list[float]:
        """Return the numbers of an output of the form seen; NaN for every number of another."""
        same = found.keys() == self._places and all(slot.fits(found[slot.place]) for slot in self.slots)
        numbers = [slot for slot in self.slots if slot.number]
        return [_restore_number(found[slot.place]) for slot in numbers] if same else [math.nan] * len(numbers)

    @cached_property
    def _places(self) -> frozenset[str]:
        return frozenset(slot.place for slot in self.slots)

    def _at_once(self, outputs: Sequence[Any] | NDArray[Any]) -> _Rows | None:
        """Return all rows, if the outputs are numbers of one kind, or collections of one length of them."""
        whole, *items = self.slots
        numbers = items or [whole]
        kinds = {slot.kind for slot in numbers}
        if len(kinds) != 1 or (items and whole.form != len(items)):
            return None
        kind = LeafKind(kinds.pop() or 0)
        if kind not in _TYPES:
            return None
        if isinstance(outputs, np.ndarray):
            fits = outputs.shape[1:] == ((len(items),) if items else ()) and whole.kind in (kind, LeafKind.ARRAY)
            return _cast(outputs.reshape(len(outputs), -1), kind) if fits else None
        return (
            _stack_collections(outputs, kind, LeafKind(whole.kind or 0), len(items))
            if items
            else _convert(outputs, kind, 1)
        )


def _describe_leaf(place: str, leaf: Leaf) -> str:
    """Say of which kind a leaf is; of an error its type too."""
    return f"{place} raises {leaf.text}" if leaf.kind is LeafKind.RAISED else f"{place} is {leaf.kind}"


def _pickle(output: Any) -> bytes | None:
    """Return bytes that only equal outputs share; None where there are none."""
    try:
        return pickle.dumps(output, pickle.HIGHEST_PROTOCOL)
    except Exception:
        return None


def _stack_collections(outputs: Sequence[Any], kind: LeafKind, held: LeafKind, length: int) -> _Rows | None:
    """Return the numbers of collections of one type and one length."""
    if held is LeafKind.ARRAY:
        alike = all(type(one) is np.ndarray and one.shape == (length,) for one in outputs)
        # Whole numbers and doubles would become doubles together, and are not of one kind.
        return _cast(np.stack(outputs), kind) if alike and len({one.dtype for one in outputs}) == 1 else None
    wanted = {LeafKind.LIST: list, LeafKind.TUPLE: tuple}.get(held)
    if set(map(type, outputs)) != {wanted} or set(map(len, outputs)) != {length}:
        return None
    return _convert(list(chain.from_iterable(outputs)), kind, length)


def _cast(numbers: NDArray[Any], kind: LeafKind) -> _Rows | None:
    """Return an array of numbers of a kind as doubles, if no bit is lost."""
    if numbers.dtype.kind not in _DTYPES[kind] or numbers.dtype.itemsize > 8:
        return None
    return _check_exact(numbers.astype(np.float64), kind)


def _convert(numbers: Sequence[Any], kind: LeafKind, length: int) -> _Rows | None:
    if not set(map(type, numbers)).issubset(_TYPES[kind]):
        return None
    try:
        return _check_exact(np.array(numbers, np.float64).reshape(-1, length), kind)
    except OverflowError:
        return None


def _check_exact(rows: _Rows, kind: LeafKind) -> _Rows | None:
    """Return rows of integers only if each of them is a double."""
    return None if kind is LeafKind.INTEGER and (np.abs(rows) >= _WHOLE).any() else rows


def _restore_number(leaf: Leaf) -> float:
    """Return a number with its NaN and its infinities."""
    if leaf.kind is LeafKind.NAN:
        return math.nan
    return math.copysign(math.inf, leaf.number) if leaf.kind in (LeafKind.INFINITE, LeafKind.HUGE) else leaf.number
