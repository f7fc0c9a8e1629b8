"""Texts about the ledger."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
    "account-unknown": Text(
        "There is no account {account}.", "The curator must protect the table or grant a budget first."
    ),
    "anchor-unknowing": Text("There is no anchor that knows what was spent.", "Put the anchor back."),
    "budget-fixed": Text(
        "The budget of {account} is {budget} for ever; it cannot become {given}.",
        "Give the budget that it was opened with.",
    ),
    "damage-account-missing": Text("the account {account} is missing"),
    "damage-anchor": Text("an anchor cannot be read"),
    "damage-declaration": Text("the declaration of {name} cannot be found"),
    "damage-entry-changed": Text("entry {entry} was changed"),
    "damage-entry-missing": Text("entry {entry} is missing or was changed"),
    "damage-found": Text("{problem}"),
    "damage-identity": Text("its name or one of its keys was changed"),
    "damage-part-missing": Text("a part of {account} is missing"),
    "damage-record": Text("a record cannot be read"),
    "damage-row": Text("a row of {table} was changed"),
    "damage-row-of-entry": Text("a row of {table} is not the one that entry {entry} wrote"),
    "damage-stream-receipt": Text("the receipt of the stream {stream} is missing"),
    "damage-stream-state": Text("the state of a stream is missing"),
    "damage-stream-ticks": Text("the stream {stream} lacks ticks that were published"),
    "damage-sum-missing": Text("a sum of {account} is missing"),
    "damage-text-of-receipt": Text("the text of {receipt} in {table} is not the one in its entry"),
    "damage-tick": Text("what was published at tick {tick} is not what its entry says"),
    "database-missing": Text("There is no database {place}.", "Make one: jali init {written}"),
    "declaration-missing": Text("Nothing is declared under the name {name!r}.", "Declare it first."),
    "head-foreign": Text(
        "{path} is not a head that `jali ledger anchor` wrote.",
        "Name the file that `jali ledger anchor DATABASE --out FILE` wrote.",
    ),
    "head-unreadable": Text(
        "{path} cannot be read.", "Name the file that `jali ledger anchor DATABASE --out FILE` wrote."
    ),
    "ledger-behind": Text(
        "The ledger {ledger} is not the one of before: its anchor knows {anchored:,} entries, and the ledger has {here:,} or others. An older copy was put in its place, or its journal (ending in -wal) is missing.",
        "Put the latest state back, with its journal. If it is lost for good, `jali ledger recover` goes on from this copy with everything charged that the anchor knows of.",
    ),
    "ledger-damaged": Text(
        "The ledger is damaged: {damage}.",
        "Stop all programs that use it and run `jali verify`. If that finds problems, put an undamaged copy in its place: `jali ledger recover` then charges what the copy does not know of.",
    ),
    "ledger-damaged-copy": Text(
        "This copy is not sound: {problem}", "Put an undamaged copy in its place, and recover that."
    ),
    "ledger-damaged-upgrade": Text(
        "The ledger {ledger} is not sound, so it cannot be upgraded: {problem}",
        "It was left as it is. Put an undamaged copy in its place.",
    ),
    "ledger-moved": Text(
        "This ledger has moved to {place}: nothing is charged or changed here any more.",
        "Open it there. If the move was cut off, finish it: jali ledger move.",
    ),
    "ledger-schema": Text(
        "{ledger} has the ledger schema {found}; this version of Jali reads up to 6.",
        "Use the version of Jali that wrote it.",
    ),
    "ledger-schema-upgraded": Text(
        "The ledger {ledger} was upgraded to schema {schema} by another version of Jali.",
        "Stop this program, and start it again with that version.",
    ),
    "loss-digits": Text("A loss or budget has too many digits.", "Write it with fewer digits."),
    "loss-not-chargeable": Text("A loss below zero, or of endless digits, cannot be charged to {account}."),
    "move-copy-differs": Text("What was copied is not the ledger that has left.", "Try again."),
    "move-empty": Text("The ledger {ledger} is empty: it cannot be moved.", "Make another."),
    "move-target-taken": Text(
        "{place} holds another ledger by now.", "Take that away, and finish the move by the same command."
    ),
    "move-target-unsound": Text("{place} is not sound.", "Run `jali verify`."),
    "move-unsound": Text("The ledger {ledger} is not sound: it cannot be moved.", "Run `jali verify`."),
    "payer-not-analyst": Text("{account} does not pay for what {analyst} sees."),
    "private-key-missing": Text(
        "{path} has no private Ed25519 key without a password.",
        "Make one: openssl genpkey -algorithm ed25519 -out KEY.pem",
    ),
    "public-key-missing": Text(
        "{path} has no public Ed25519 key.", "Write it: openssl pkey -in KEY.pem -pubout -out PUBLIC.pem"
    ),
    "question-without-debit": Text("A question without a debit cannot be reserved.", "Name who pays for it."),
    "receipt-tried-out": Text(
        "The receipt {receipt} was tried {attempts} times without an answer.",
        "It stays spent; ask the question anew.",
    ),
    "receipt-unknown": Text(
        "There is no receipt {receipt}.",
        "Look at your list of receipts.",
        command_line=Words(remedy="See: jali ledger {asked_database}"),
    ),
    "recover-nothing": Text("The ledger lacks nothing that was anchored.", "Open it as usual."),
    "scheme-not-chargeable": Text("The scheme {scheme!r} cannot be charged to {account} like this."),
    "stream-ended-by-recovery": Text(
        "The stream {stream} ended when the ledger was recovered from an older copy.",
        "Make another stream; what this one published stays.",
    ),
    "stream-over-in-ledger": Text(
        "The horizon of {stream} is over: all of its {most} ticks are published.",
        "Make another stream; what this one published stays.",
    ),
    "stream-unknown-in-ledger": Text("There is no stream {stream}.", "Make it with db.stream."),
    "token-unknown": Text("There is no token {token}.", "See which there are: jali token list."),
}
