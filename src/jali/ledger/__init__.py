"""The ledger: what may be spent, what was spent, and the right to exactly one answer for each debit.

It knows nothing of SQL, plans or answers: they are texts that it keeps and gives back.
"""

from jali.ledger.access import AdminAct, LedgerAccess, Role, Token
from jali.ledger.charge import Debit, grant_account, table_account
from jali.ledger.ledger import Ledger
from jali.ledger.ledger_opening import PostgresLedger, SqliteLedger, open_ledger
from jali.ledger.ledger_records import (
    MAX_ATTEMPTS,
    Declaration,
    DeclarationsChanged,
    Receipt,
    ReceiptState,
    Reservation,
)
from jali.ledger.ledger_tables import QuestionHistory, RecallHit
from jali.ledger.streams import (
    AppendOutcome,
    Arrival,
    AttendanceBounds,
    LedgerStreams,
    StoredStream,
    stream_account,
)
from jali.ledger.subpopulation_sums import DebitSubpopulation, SubpopulationSpending
from jali.ledger.verify import Verification

__all__ = [
    "MAX_ATTEMPTS",
    "AdminAct",
    "AppendOutcome",
    "Arrival",
    "AttendanceBounds",
    "Debit",
    "DebitSubpopulation",
    "Declaration",
    "DeclarationsChanged",
    "Ledger",
    "LedgerAccess",
    "LedgerStreams",
    "PostgresLedger",
    "QuestionHistory",
    "RecallHit",
    "Receipt",
    "ReceiptState",
    "Reservation",
    "Role",
    "SqliteLedger",
    "StoredStream",
    "SubpopulationSpending",
    "Token",
    "Verification",
    "grant_account",
    "open_ledger",
    "stream_account",
    "table_account",
]
