"""How texts are spelled that casts read as numbers, days and times: regular expressions that all engines know.

They hold classes, groups and repeats only, no backslash, and are anchored: it does not matter whether an engine
looks for a match or compares the whole text.
"""

from __future__ import annotations

_SPACE = "[ \t\n\v\f\r]*"
_DIGITS = "[0-9]+(_[0-9]+)*"
NUMBER_SHAPE = f"^{_SPACE}[+-]?({_DIGITS}[.]?({_DIGITS})?|[.]{_DIGITS})([eE][+-]?[0-9]+)?{_SPACE}$"
NAN_SHAPE = f"^{_SPACE}[+-]?[nN][aA][nN]{_SPACE}$"
_INFINITY = "[iI][nN][fF]([iI][nN][iI][tT][yY])?"
INFINITE_SHAPE = f"^{_SPACE}[+]?{_INFINITY}{_SPACE}$"
MINUS_INFINITE_SHAPE = f"^{_SPACE}-{_INFINITY}{_SPACE}$"
_MONTH = "[0-9]{1,2}"
_DAY = f"[0-9]{{1,4}}(-{_MONTH}-|/{_MONTH}/| {_MONTH} ){_MONTH}"
DATE_SHAPE = f"^{_SPACE}{_DAY}{_SPACE}$"
_CLOCK = "[0-2]?[0-9]:[0-5]?[0-9](:[0-5]?[0-9]([.][0-9]*)?)?"
TIME_SHAPE = f"^{_SPACE}{_DAY}([ T]{_CLOCK})?{_SPACE}$"
TRUE_WORDS = "('true', 't', '1', 'yes', 'y')"
FALSE_WORDS = "('false', 'f', '0', 'no', 'n')"
