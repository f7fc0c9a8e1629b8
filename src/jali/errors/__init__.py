"""The exceptions of Jali. An error is data: a code, typed fields and a position; the catalogue has its texts.

JaliError
├── QueryError          the question is wrong; costs nothing; has a position and a remedy
│   └── Unsupported     the question is understood, and cannot be answered privately here
├── BudgetExceeded      requested, remaining, difference, and what would still fit
├── CatalogError        a declaration is wrong: a table, unit, range, key, budget or grant
├── EngineError         the engine could not run the query; the text never depends on the data
├── LedgerError         the ledger is missing, damaged, busy, or the receipt cannot be used
└── MechanismError      a mechanism's parameter or input is outside its domain
"""

from jali.errors.exceptions import (
    BudgetExceeded,
    CatalogError,
    EngineError,
    Fit,
    JaliError,
    LedgerError,
    MechanismError,
    QueryError,
    Unsupported,
)
from jali.errors.fields import Field, Phrase, Shown, settle
from jali.errors.templates import Face, Text, Words, write

__all__ = [
    "BudgetExceeded",
    "CatalogError",
    "EngineError",
    "Face",
    "Field",
    "Fit",
    "JaliError",
    "LedgerError",
    "MechanismError",
    "Phrase",
    "QueryError",
    "Shown",
    "Text",
    "Unsupported",
    "Words",
    "settle",
    "write",
]

# They are known by where they are imported from: in tracebacks, in pickles and in the documentation.
for _kind in (
    JaliError,
    QueryError,
    Unsupported,
    BudgetExceeded,
    CatalogError,
    EngineError,
    LedgerError,
    MechanismError,
    Fit,
):
    _kind.__module__ = __name__
