"""The ledger: what may be spent, what was spent, and the right to exactly one answer for each debit.

It knows nothing of SQL, plans or answers: they are texts that it keeps and gives back.
"""

from jali.ledger.access import Deed, Role, Token
from jali.ledger.access_book import AccessBook
from jali.ledger.debit import Debit, grant_account, table_account
from jali.ledger.declaration import Declaration
from jali.ledger.opening import open_ledger
from jali.ledger.parts import Part, PartLine
from jali.ledger.postgres import PostgresLedger
from jali.ledger.protocol import Ledger
from jali.ledger.receipt import MAX_ATTEMPTS, Receipt, Reservation, State
from jali.ledger.sqlite import SqliteLedger
from jali.ledger.stored import StoredLedger
from jali.ledger.stream import Arrival, Bounds, Entered, StoredStream, stream_account
from jali.ledger.stream_book import StreamBook
from jali.ledger.verification import Verification

__all__ = [
    "MAX_ATTEMPTS",
    "AccessBook",
    "Arrival",
    "Bounds",
    "Debit",
    "Declaration",
    "Deed",
    "Entered",
    "Ledger",
    "Part",
    "PartLine",
    "PostgresLedger",
    "Receipt",
    "Reservation",
    "Role",
    "SqliteLedger",
    "State",
    "StoredLedger",
    "StoredStream",
    "StreamBook",
    "Token",
    "Verification",
    "grant_account",
    "open_ledger",
    "stream_account",
    "table_account",
]
