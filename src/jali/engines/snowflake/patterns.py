"""Regular expressions in Snowflake's SQL.

Questions are written for RE2, which finds a pattern anywhere. Snowflake's REGEXP_LIKE compares the whole text, in
the extended syntax of POSIX with the classes of Perl: what both read alike is taken over, the rest is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jali.engines.snowflake.literals import text
from jali.engines.sql.functions import constant_text, written_text
from jali.errors import Unsupported
from jali.query.nodes import Call

if TYPE_CHECKING:
    from jali.engines.sql.expressions import Emitter

_ANY_CASE = "(?i)"
_ALIKE = re.compile(
    r"""(?:
        [^\\\[\](){}*+?|^$.]                                   # a letter that stands for itself
      | \\[dDwWsS.\\+*?()|\[\]{}^$]                            # an escape
      | \[\^?(?:[^\\\[\]^&~-]|[^\\\[\]]-[^\\\[\]])+\]          # a class without escapes
      | \(\?:|\((?!\?)|\)|[|^$.]                              # groups, choices, ends and any letter
      | [*+?](?![*+?])|\{\d{1,3}(?:,\d{0,3})?\}(?![*+?])       # repeats, none of them lazy
    )*""",
    re.VERBOSE,
)
# Any text, ends of lines too.
_ANYTHING = "(.|\n)*"


def matches(emitter: Emitter, call: Call) -> str:
    """Write whether a pattern is found in a text, or is the whole of it.

    Raises:
        Unsupported: if Snowflake may read the pattern otherwise.
    """
    given = constant_text(call.arguments[1])
    pattern = f"({_written(given.removeprefix(_ANY_CASE))})"
    if call.function == "regexp_matches":
        pattern = f"{_ANYTHING}{pattern}{_ANYTHING}"
    options = ", 'i'" if given.startswith(_ANY_CASE) else ""
    return f"REGEXP_LIKE({written_text(emitter, call.arguments[0])}, {text(pattern)}{options})"


def _written(pattern: str) -> str:
    if not _ALIKE.fullmatch(pattern):
        raise Unsupported(
            "This regular expression may be read differently by Snowflake.",
            remedy="Write it with letters, classes, groups, choices and repeats only, or use LIKE.",
        )
    # Groups that remember nothing are no words of POSIX; to find a match all groups are alike.
    return re.sub(r"(\\.)|\(\?:", lambda found: found[1] or "(", pattern)
