"""Texts about databases: asking, grants, receipts, copies."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
    "advice-column-unknown": Text(
        "{table} has no column {column}.", "{nearest:?Did you mean {nearest}? |}Its columns are {columns}."
    ),
    "advice-loss-too-small": Text("This loss is too small to advise on {table}.", "{subject}: {reason}."),
    "advice-nothing": Text(
        "There is nothing to advise on {table}.",
        "Name columns whose range or keys are to be looked for, or give a delta for keys.",
    ),
    "analyst-name-taken": Text("An analyst needs a name other than {analyst!r}.", "Give the analyst's name."),
    "batch-loss-missing": Text(
        "A batch has one total.",
        "Give epsilon=1, or rho=0.05 for Gaussian noise.",
        command_line=Words(remedy="Give --epsilon 1, or --rho 0.05 for Gaussian noise."),
        page=Words(remedy="Give epsilon 1, or rho 0.05 for Gaussian noise."),
    ),
    "batch-loss-twice": Text(
        "The batch has a total, and this question a loss of its own.",
        "Leave out one of them; weight=2 gives a question more of the total.",
    ),
    "batch-privacy-clause": Text(
        "A question of a batch has no privacy clause.",
        "Give its terms as arguments: b.ask('SELECT ...', max_rows=3).",
    ),
    "batch-question-not-text": Text("A question is SQL text.", "Write b.ask('SELECT COUNT(*) FROM ...')."),
    "batch-term-unknown": Text("A question of a batch takes no {term}.", "It takes {terms}."),
    "batch-too-long": Text(
        "The questions of a batch have at most {most:,} characters together.",
        "Ask several batches. The curator can raise the limit `characters`.",
    ),
    "copy-of-linked": Text(
        "The unit of {table} is in {other}: a copy needs it in the table itself.",
        "Write {table} with a column of its unit, and protect that.",
    ),
    "copy-of-people": Text(
        "Table {table} needs no copy: each row is a person.", "Copies bound the rows of people who have several."
    ),
    "copy-of-rehearsal": Text("Made-up rows need no copy.", "Prepare the table of the database itself."),
    "copy-without-place": Text(
        "There is no place here to keep the copy of {table}.",
        "It needs a directory: beside the file; with a ledger in Postgres, in XDG_STATE_HOME.",
    ),
    "declared-anew-at-copy": Text("{table} was declared anew while it was copied.", "Prepare it again."),
    "engine-failed-result": Text("The engine's result could not be used."),
    "frame-columns-differ": Text("The frame does not have the columns that {table} was declared with."),
    "frame-values-protected": Text(
        "A frame with these values is declared already, as {table}.", "One source has one budget: ask that table."
    ),
    "grant-exists": Text(
        "{analyst} has another grant on {table} already; a budget is never reset.",
        "Grant under another analyst's name.",
    ),
    "grant-missing": Text(
        "{analyst} has no grant on {table}.",
        "Ask the curator for db.grant({analyst!r}, {table!r}, jali.Budget(...)).",
        command_line=Words(
            remedy="Ask the curator for it: jali grant {asked_database} {analyst:shell} {table:shell} --epsilon NUMBER"
        ),
        page=Words(remedy="Ask the curator for a grant."),
    ),
    "most-rows-outside": Text("most_rows must be a whole number between 1 and 1,048,576."),
    "part-data-refreshed": Text(
        "The data was refreshed after this question on a part was paid for; people may have moved between parts since, and the answer would concern others than those who were charged.",
        "It stays spent; ask the question anew.",
    ),
    "planning-failed": Text(
        "Jali failed to plan this question, unexpectedly. Nothing was spent.", "Please report the question."
    ),
    "planning-out-of-memory": Text(
        "The question takes too much memory to plan. Nothing was spent.", "Ask for less at once."
    ),
    "protected-table-unknown-here": Text(
        "There is no protected table {table}.",
        "{nearest:?Did you mean {nearest}? |}Protected tables: {tables:*, |none yet}.",
    ),
    "question-not-text": Text("A question is SQL text.", "Write db.ask('SELECT COUNT(*) FROM ...', epsilon=0.1)."),
    "receipt-of-batch": Text(
        "{receipt} is the receipt of a batch.", "Redeem all of its answers with redeem_batch."
    ),
    "receipt-of-no-batch": Text(
        "{receipt} is no receipt of a batch.", "Redeem the receipt of a single question with redeem."
    ),
    "receipt-of-stream": Text(
        "{receipt} is the receipt of a stream.",
        "Open the stream with db.stream.",
        command_line=Words(remedy="See: jali stream show {asked_database}"),
    ),
    "receipt-of-stream-shown": Text("{receipt} is the receipt of a stream.", "Look at the stream."),
    "receipt-stays-open": Text(
        "Receipt {receipt} is paid and stays open: redeem it once this is mended.",
        command_line=Words(
            "Receipt {receipt} is paid and stays open. Once this is mended: jali redeem {asked_database} {receipt}{asked_analyst}"
        ),
    ),
    "rehearsal-rows": Text(
        "rows must be a whole number between 1 and {most:,}.",
        command_line=Words("--rows must be a whole number between 1 and {most:,}."),
    ),
    "role-unknown": Text("{role!r} is no role.", "Take 'analyst' or 'curator'."),
    "source-changed": Text(
        "The data of table {table} was changed since it was checked. Nothing was spent.",
        "The curator must refresh it: db.refresh({table!r}), or jali refresh DATABASE {table}.",
    ),
    "source-changed-at-check": Text(
        "The source of {table} was changed while it was checked.", "Check it again when nobody writes to it."
    ),
    "source-changed-at-copy": Text("The source of {table} was changed while it was copied.", "Prepare it again."),
    "source-changed-public": Text(
        "The data of table {table} was changed since it was checked. Nothing was spent.",
        "The curator must publish it again: db.publish({table!r}, ...).",
    ),
    "table-closed": Text(
        "Table {table} is closed until its curator has looked at it. Nothing was spent.",
        "The curator runs: jali check DATABASE {table}",
    ),
    "table-name-of-stream": Text("There is a stream {stream} already.", "Call the table otherwise."),
    "table-without-frame": Text("Table {table} is read from {location}, not from a frame."),
    "token-days": Text("days must be between 1 and {most}, not {days}.", "Write days=90."),
    "token-name": Text("A token needs a name of up to {most} letters.", "Give the person's name."),
    "token-without-server": Text("A token opens a server, not a database.", "Leave token out."),
    "weight-not-positive": Text(
        "weight is a number above 0.", "Give weight=2 to what should be twice as important."
    ),
}
