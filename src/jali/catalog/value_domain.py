"""The closed domain of values: what a question can see of a stored value, whatever is stored.

Statement:
    Every column enters a question through the normalising scan of its engine (`Dialect.scan`). The scan maps each
    stored value to one of these, or to NULL:

    - whole numbers of the stored width, from 8 to 128 bits;
    - doubles: finite or infinite, never NaN;
    - valid Unicode of at most `LONGEST_TEXT` bytes in UTF-8;
    - dates and times of the calendar from `FIRST_DAY` to `LAST_DAY`, times to the microsecond;
    - truth values.

    Nothing above the scan ever sees another value, and columns of other types cannot be named. Expressions stay in
    the domain, but for doubles: computed ones may be NaN, which counts as missing.
Why:
    A function is total where it is total on this domain, so that no stored value decides whether a question fails.
    `tests/domain` runs every function on every extreme of the domain, from every source, on every engine.
"""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import TypeAlias

# In bytes of UTF-8: engines know the number of bytes without reading a text.
LONGEST_TEXT = 1 << 16
FIRST_DAY = datetime.date(1, 1, 1)
LAST_DAY = datetime.date(9999, 12, 31)
FIRST_TIME = datetime.datetime(1, 1, 1)  # noqa: DTZ001 - columns without time zone are read as they are
LAST_TIME = datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001

# A constant of a question, a key, or a value of an answer.
Value: TypeAlias = bool | int | Fraction | str | datetime.date | datetime.datetime | None
