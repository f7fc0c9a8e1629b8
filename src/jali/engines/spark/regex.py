r"""Regular expressions of RE2 as those of Java that match the same texts, as far as there are any.

Java searches by trial and error: a pattern that repeats a group may take it forever, or end it on one long text,
which would tell of that text. Only characters are repeated here, and a group a few times. Classes are written
out, as both libraries have their own idea of \s, \b and the dot. What has no counterpart is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NoReturn

from jali.errors import Unsupported

_LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]
_DIGIT: Ranges = ((48, 57),)
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Ranges = ((9, 10), (12, 13), (32, 32))
_CLASSES: dict[str, Ranges] = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_NAMED: dict[str, Ranges] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": _DIGIT,
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": _WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
_CONTROLS = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
# Letters beyond ASCII that are those of ASCII in another case: the long s, and the sign of kelvin.
_FOLDED = {ord("s"): 0x17F, ord("k"): 0x212A}
_MOST_LOOPS, _MOST_CHOICES, _MOST_ITEMS = 4, 12, 2000
_BORDER = "(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])"


@lru_cache(maxsize=256)
def java_pattern(written: str, *, whole: bool) -> str:
    """Return the pattern of Java that finds what RE2 finds; `whole` where all of the text must match.

    Args:
        written: A pattern that RE2 compiles.
        whole: Whether the whole text must match, not a part of it.

    Raises:
        Unsupported: if there is none that is sure to end.
    """
    reader = _Reader(written)
    found = reader.alternatives(_Flags())
    if reader.place < len(written):
        reader.refuse()
    reader.count(found)
    return f"\\A(?:{found.java})\\z" if whole else found.java


@dataclass(frozen=True)
class _Flags:
    fold: bool = False
    lines: bool = False
    dot_all: bool = False
    lazy: bool = False


@dataclass(frozen=True)
class _Fragment:
    """A part of a pattern.

    Attributes:
        java: How Java writes it.
        ranges: The characters, where it matches one of them and nothing else.
        loops: How many repetitions without an end it has.
        choices: How often it may go either way, loops aside.
        items: How many characters and the like it has.
        atom: Whether it can be repeated as it is written.
    """

    java: str
    ranges: Ranges | None = None
    loops: int = 0
    choices: int = 0
    items: int = 1
    atom: bool = True

    @property
    def group(self) -> str:
        return self.java if self.atom else f"(?:{self.java})"


def _of(ranges: Ranges) -> _Fragment:
    return _Fragment(_class(ranges), ranges)


def _class(ranges: Ranges) -> str:
    if not ranges:
        return "(?!)"
    return "[" + "".join(_hex(a) if a == b else f"{_hex(a)}-{_hex(b)}" for a, b in ranges) + "]"


def _hex(point: int) -> str:
    character = chr(point)
    return character if character.isascii() and character.isalnum() else f"\\x{{{point:x}}}"


def _merge(ranges: list[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for a, b in sorted(ranges):
        if found and a <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], b)
        else:
            found.append((a, b))
    return tuple(found)


def _negate(ranges: Ranges) -> Ranges:
    found, start = [], 0
    for a, b in ranges:
        if start < a:
            found.append((start, a - 1))
        start = b + 1
    return tuple(found) + (((start, _LAST),) if start <= _LAST else ())


@dataclass
class _Reader:
    """Reads a pattern that RE2 compiles, from left to right."""

    written: str
    place: int = 0
    flags: _Flags = field(default_factory=_Flags)

    def refuse(self) -> NoReturn:
        raise Unsupported("spark-pattern", pattern=self.written)

    def count(self, part: _Fragment) -> None:
        if part.loops > _MOST_LOOPS or part.choices > _MOST_CHOICES or part.items > _MOST_ITEMS:
            self.refuse()

    @property
    def rest(self) -> str:
        return self.written[self.place :]

    def take(self, count: int = 1) -> str:
        found = self.written[self.place : self.place + count]
        if len(found) < count:
            self.refuse()
        self.place += count
        return found

    def accept(self, start: str) -> bool:
        if not self.rest.startswith(start):
            return False
        self.place += len(start)
        return True

    def until(self, end: str) -> str:
        found, mark, _ = self.rest.partition(end)
        if not mark:
            self.refuse()
        self.place += len(found) + len(end)
        return found

    def alternatives(self, flags: _Flags) -> _Fragment:
        """Read up to the end of a group. Options hold to its end."""
        self.flags = flags
        parts = [self.sequence()]
        while self.accept("|"):
            parts.append(self.sequence())
        if len(parts) == 1:
            return parts[0]
        if all(part.ranges is not None for part in parts):
            return _of(_merge([r for part in parts for r in part.ranges or ()]))
        return _Fragment(
            "|".join(part.java for part in parts),
            loops=max(part.loops for part in parts),
            choices=max(part.choices for part in parts) + 1,
            items=sum(part.items for part in parts),
            atom=False,
        )

    def sequence(self) -> _Fragment:
        parts: list[_Fragment] = []
        while self.rest and self.rest[0] not in "|)":
            parts.append(self.repetition(self.item()))
        if len(parts) == 1:
            return parts[0]
        return _Fragment(
            "".join(part.group for part in parts),
            loops=sum(part.loops for part in parts),
            choices=sum(part.choices for part in parts),
            items=sum(part.items for part in parts),
            atom=False,
        )

    def item(self) -> _Fragment:
        """Read what may be repeated."""
        character = self.take()
        if character == "(":
            return self.group()
        if character == "[":
            return _of(self.character_class())
        if character == "\\":
            return self.escape()
        if character == ".":
            return _of(((0, _LAST),) if self.flags.dot_all else _negate(((10, 10),)))
        if character == "^":
            return _Fragment("(?<![^\\n])" if self.flags.lines else "\\A")
        if character == "$":
            return _Fragment("(?![^\\n])" if self.flags.lines else "\\z")
        if character in "*+?":
            self.refuse()
        return self.literal(ord(character))

    def literal(self, point: int) -> _Fragment:
        return _of(self.fold_case(((point, point),)))

    def fold_case(self, ranges: Ranges) -> Ranges:
        """Add the other case of each letter; beyond ASCII the libraries know different ones."""
        if not self.flags.fold:
            return ranges
        if any(b > 127 for _, b in ranges):
            self.refuse()
        found = list(ranges)
        for point in (p for a, b in ranges for p in range(a, b + 1) if chr(p).isalpha()):
            small = ord(chr(point).lower())
            found += [(p, p) for p in (small, small - 32, _FOLDED.get(small, small))]
        return _merge(found)

    def group(self) -> _Fragment:
        outer = self.flags
        named = self.accept("?P<") or self.accept("?<")
        if named:
            self.until(">")
        elif self.accept("?") and not self.options():
            # Options for the rest of this group: they match nothing.
            return _Fragment("")
        part = self.alternatives(self.flags)
        if self.take() != ")":
            self.refuse()
        self.flags = outer
        return part

    def options(self) -> bool:
        """Read options; say whether they hold for a group, and not for the rest of this one."""
        flags, on = self.flags, True
        names = {"i": "fold", "m": "lines", "s": "dot_all", "U": "lazy"}
        while (character := self.take()) not in ":)":
            if character == "-":
                on = False
            elif character in names:
                flags = replace(flags, **{names[character]: on})
            else:
                self.refuse()
        self.flags = flags
        return character == ":"

    def escape(self) -> _Fragment:
        character = self.take()
        anchors = {"A": "\\A", "z": "\\z", "b": f"(?:{_BORDER})", "B": f"(?!{_BORDER})"}
        if character in anchors:
            return _Fragment(anchors[character])
        if character == "Q":
            return self.quotation()
        if character.lower() in _CLASSES:
            return _of(self.shorthand_class(character))
        return self.literal(self.point(character))

    def shorthand_class(self, character: str) -> Ranges:
        ranges = self.fold_case(_CLASSES[character.lower()])
        return _negate(ranges) if character.isupper() else ranges

    def quotation(self) -> _Fragment:
        words, _, _ = self.rest.partition("\\E")
        self.place += len(words) + (2 if "\\E" in self.rest else 0)
        parts = [self.literal(ord(character)) for character in words]
        if len(parts) == 1:
            return parts[0]
        return _Fragment("".join(part.java for part in parts), items=len(parts), atom=False)

    def point(self, character: str) -> int:
        """Read the rest of an escape that is one character."""
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "x":
            return int(self.until("}") if self.accept("{") else self.take(2), 16)
        if character in "01234567":
            digits = character
            while len(digits) < 3 and self.rest and self.rest[0] in "01234567":
                digits += self.take()
            return int(digits, 8)
        if character.isascii() and character.isalnum():
            self.refuse()
        return ord(character)

    def character_class(self) -> Ranges:
        negated, found, first = self.accept("^"), [], True
        while first or not self.accept("]"):
            first = False
            found += self.member()
        ranges = _merge(found)
        return _negate(ranges) if negated else ranges

    def member(self) -> list[tuple[int, int]]:
        if self.accept("[:"):
            negated, name = self.accept("^"), self.until(":]")
            ranges = self.fold_case(_NAMED[name])
            return list(_negate(ranges) if negated else ranges)
        low = self.take()
        if low == "\\":
            low = self.take()
            if low.lower() in _CLASSES:
                return list(self.shorthand_class(low))
            start = self.point(low)
        else:
            start = ord(low)
        end = start
        if self.rest.startswith("-") and not self.rest.startswith("-]"):
            self.place += 1
            high = self.take()
            end = self.point(self.take()) if high == "\\" else ord(high)
        return list(self.fold_case(((start, end),)))

    def repetition(self, part: _Fragment) -> _Fragment:
        """Read how often a part is repeated. Which repetition comes first does not matter: all are looked for."""
        bounds = self.times()
        if bounds is None:
            return part
        if self.times_again():
            self.refuse()
        low, high = bounds
        if part.ranges is not None:
            return self.repeat_character(part, low, high)
        return self.repeat_group(part, low, high)

    def times(self) -> tuple[int, int | None] | None:
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if self.rest and self.rest[0] in simple:
            found = simple[self.take()]
        else:
            counted = _read_count(self.rest)
            if counted is None:
                return None
            found, length = counted
            self.place += length
        self.accept("?")
        return found

    def times_again(self) -> bool:
        return bool(self.rest) and (self.rest[0] in "*+?" or _read_count(self.rest) is not None)

    def repeat_character(self, part: _Fragment, low: int, high: int | None) -> _Fragment:
        mark = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
        if mark is None:
            mark = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
        # Java repeats without an end in one loop only where it begins at 0 or 1.
        first = f"{part.java}{{{low - 1}}}" if high is None and low > 1 else ""
        java = f"{first}{part.java}{'+' if first else mark}"
        endless = high is None or high - low > 1
        return _Fragment(java, loops=int(endless), choices=int(high == low + 1), atom=False)

    def repeat_group(self, part: _Fragment, low: int, high: int | None) -> _Fragment:
        if high is None or (part.loops and high > 1):
            self.refuse()
        optional = high - low
        java = part.group * low + f"(?:{part.group}" * optional + ")?" * optional
        made = _Fragment(
            java,
            loops=part.loops * high,
            choices=part.choices * high + optional,
            items=max(1, part.items * high),
            atom=False,
        )
        self.count(made)
        return made


def _read_count(rest: str) -> tuple[tuple[int, int | None], int] | None:
    """Read {2}, {2,} or {2,5}; anything else in braces is text."""
    if not rest.startswith("{") or "}" not in rest:
        return None
    inside = rest[1 : rest.index("}")]
    low, comma, high = inside.partition(",")
    if not (low.isdigit() and low.isascii()) or (high and not (high.isdigit() and high.isascii())):
        return None
    most = int(high) if high else (None if comma else int(low))
    return (int(low), most), len(inside) + 2
