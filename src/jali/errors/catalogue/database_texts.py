"""Texts about databases: asking, budgets that refuse a question, grants, receipts, copies, streams."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "adaptive-malformed": Text("adaptive must be True or False, not {given!r}."),
    "advice-column-unknown": Text(
        "{table} has no column {column}.", "{nearest:?Did you mean {nearest}? |}Its columns are {columns}."
    ),
    "advice-loss-too-small": Text("This privacy loss is too small to advise on {table}.", "{subject}: {reason}."),
    "advice-nothing": Text(
        "There is nothing to advise on {table}.",
        "Name columns whose range or keys should be estimated, or give a delta for keys.",
    ),
    "analyst-name-taken": Text("{analyst!r} cannot be the name of an analyst.", "Choose another name."),
    "batch-loss-missing": Text(
        "The privacy loss of the batch is missing.",
        "Give epsilon=1, or rho=0.05 for Gaussian noise.",
        command_line=Words(remedy="Give --epsilon 1, or --rho 0.05 for Gaussian noise."),
        page=Words(remedy="Give epsilon 1, or rho 0.05 for Gaussian noise."),
    ),
    "batch-loss-twice": Text(
        "The batch has a total privacy loss, so this question cannot have its own.",
        "Give only one of them. weight=2 gives a question a larger share of the total.",
    ),
    "batch-privacy-clause": Text(
        "A question of a batch cannot have a privacy clause.",
        "Pass its options as arguments: b.ask('SELECT ...', max_rows=3).",
    ),
    "batch-question-not-text": Text("A question must be SQL text.", "Write b.ask('SELECT COUNT(*) FROM ...')."),
    "batch-term-unknown": Text("A question of a batch does not take {term}.", "It takes {terms}."),
    "batch-too-long": Text(
        "The questions of a batch may have at most {most:,} characters in total.",
        "Split them into several batches. The curator can raise the limit `characters`.",
    ),
    "bins-numbers": Text("bins must be numbers, not {given!r}.", "Write bins=[10, 20, 50]."),
    "budget-amount": Text(
        "epsilon={epsilon:decimal}, delta={delta:decimal}",
        page=Words("epsilon {epsilon:decimal}{has_delta:?, delta {delta:decimal}|}"),
    ),
    "budget-exceeded": Text(
        "The budget of {account} does not cover {subject}. {facts:* }",
        "{advice}",
        command_line=Words("The budget of {account} does not cover {subject}."),
        http=Words("The budget of {account} does not cover {subject}."),
        page=Words("The budget of {account} does not cover {subject}."),
    ),
    "budget-fits-coarser": Text("This question cannot be answered with less; a coarser one can."),
    "budget-fits-in-all": Text("What would fit: {subject} for a total {kind} of {amount}."),
    "budget-fits-less": Text("A question with {terms} would still fit."),
    "budget-fits-other-kind": Text("No {kind} remains; a question with {terms} would still fit."),
    "budget-remaining": Text(
        "epsilon {epsilon:decimal} (or rho {rho:decimal}){has_delta:?, delta {delta:decimal}|}",
        page=Words(
            "epsilon {epsilon:decimal}{has_rho:? (or rho {rho:decimal})|}{has_delta:?, delta {delta:decimal}|}"
        ),
    ),
    "budget-used-up": Text("The budget is spent. Released answers can be asked again for free."),
    "budget-used-up-for-question": Text(
        "No budget remains for this question. Released answers can be asked again for free."
    ),
    "clock-without-every": Text(
        "A clock needs the length of a tick.",
        "Write every='day'.",
        command_line=Words(remedy="Write --every day."),
    ),
    "clock-without-start": Text(
        "A clock needs a start.",
        "Write start='2026-01-01'.",
        command_line=Words(remedy="Write --start 2026-01-01."),
    ),
    "copy-of-linked": Text(
        "The unit column of {table} is in {other}, but a copy needs it in the table itself.",
        "Add the unit column to {table}, and protect the new table.",
    ),
    "copy-of-people": Text(
        "Table {table} needs no prepared copy, because each row is a person.",
        "A copy bounds the rows of people who have several.",
    ),
    "copy-of-rehearsal": Text(
        "Synthetic rows need no prepared copy.", "Prepare the table of the database itself."
    ),
    "copy-without-place": Text(
        "There is no directory for the copy of {table}.",
        "Copies are kept beside the database file or, with a ledger in Postgres, in XDG_STATE_HOME.",
    ),
    "declaration-too-long": Text("This declaration cannot be stored."),
    "declared-anew-at-copy": Text(
        "The declaration of {table} was changed while it was copied.", "Prepare it again."
    ),
    "engine-failed-result": Text("The engine's result could not be used."),
    "every-unknown": Text(
        "every must be one of {choices}, not {given!r}.",
        command_line=Words("--every must be one of {choices}, not {given!r}."),
    ),
    "frame-columns-differ": Text("The frame does not have the columns that {table} was declared with."),
    "frame-values-protected": Text(
        "A frame with these values is already declared as {table}.",
        "Each source has one budget: query that table.",
    ),
    "grant-exists": Text(
        "{analyst} already has a different grant on {table}. A budget is never reset.",
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
    "horizon-beyond-calendar": Text(
        "{horizon} ticks of one {every} end beyond the calendar.", "Declare a shorter horizon."
    ),
    "key-without-query": Text(
        "key and late only apply to streams over a table.",
        "Give query= as well.",
        command_line=Words(
            message="--key and --late only apply to streams over a table.", remedy="Give --query as well."
        ),
    ),
    "last-and-restart": Text(
        "last and restart cannot be combined.",
        "Give last=7 for a sliding window of 7 ticks, or restart=7 to restart after every 7 ticks.",
        command_line=Words(
            remedy="Give --last 7 for a sliding window of 7 ticks, or --restart 7 to restart after every 7 ticks."
        ),
    ),
    "late-malformed": Text("late must be a number of ticks, or None for all of them, not {given!r}."),
    "leaves-for-free": Text("already released, so it is free: {remaining} of {budget} remains"),
    "leaves-some": Text("{remaining} of {budget}"),
    "leaves-too-little": Text("the question would be refused: {remaining} remains"),
    "leaves-without-grant": Text(
        "the question would be refused: {analyst} has no grant on {table}, which the curator gives"
    ),
    "list-expected": Text("{name} must be a list, not {given!r}.", "Write {example}."),
    "max-ticks-too-many": Text(
        "max_ticks is {max_ticks:,}, but {spaced:?only {fit:,} of the {horizon:,} ticks of the stream are {separation:,} apart|the stream has only {fit:,} ticks}.",
        "Give {fit:,} or fewer: the stream spends for every tick that one person may contribute to.",
    ),
    "measure-unknown": Text(
        "measure must be one of {measures}, not {given!r}.",
        command_line=Words("--measure must be one of {measures}, not {given!r}."),
    ),
    "moment-malformed": Text(
        "{name} must be a date or time without time zone, not {given!r}.", "Write '2026-01-31'."
    ),
    "most-rows-outside": Text("most_rows must be a whole number between 1 and 1,048,576."),
    "part-data-refreshed": Text(
        "The data was refreshed after budget was reserved for this question. People may have moved between subpopulations since, so the answer would concern others than those who were charged.",
        "The reserved loss stays spent. Ask the question again.",
    ),
    "planning-failed": Text(
        "An unexpected error occurred while planning this question. Nothing was spent.",
        "Please report the question.",
    ),
    "planning-out-of-memory": Text(
        "Planning the question takes too much memory. Nothing was spent.", "Ask a smaller question."
    ),
    "protected-table-unknown-here": Text(
        "There is no protected table {table}.",
        "{nearest:?Did you mean {nearest}? |}Protected tables: {tables:*, |none yet}.",
    ),
    "question-not-text": Text(
        "A question must be SQL text.", "Write db.ask('SELECT COUNT(*) FROM ...', epsilon=0.1)."
    ),
    "receipt-of-batch": Text(
        "{receipt} is the receipt of a batch.", "Use redeem_batch to redeem all of its answers."
    ),
    "receipt-of-no-batch": Text(
        "{receipt} is not the receipt of a batch.", "Use redeem for the receipt of a single question."
    ),
    "receipt-of-stream": Text(
        "{receipt} is the receipt of a stream.",
        "Open the stream with db.stream.",
        command_line=Words(remedy="See: jali stream show {asked_database}"),
    ),
    "receipt-of-stream-shown": Text("{receipt} is the receipt of a stream.", "Open the stream."),
    "receipt-stays-open": Text(
        "Receipt {receipt} is reserved and stays open: redeem it once this is resolved.",
        command_line=Words(
            "Receipt {receipt} is reserved and stays open. Once this is resolved: jali redeem {asked_database} {receipt}{asked_analyst}"
        ),
    ),
    "rehearsal-rows": Text(
        "rows must be a whole number between 1 and {most:,}.",
        command_line=Words("--rows must be a whole number between 1 and {most:,}."),
    ),
    "role-unknown": Text("{role!r} is not a role.", "Use 'analyst' or 'curator'."),
    "separation-alone": Text(
        "separation is {separation:,}, but each person contributes to one tick only.",
        "Give max_ticks as well, or leave separation out.",
        command_line=Words(remedy="Give --max-ticks as well, or leave --separation out."),
    ),
    "source-changed": Text(
        "The data of table {table} has changed since it was last checked. Nothing was spent.",
        "The curator must refresh it: db.refresh({table!r}), or jali refresh DATABASE {table}.",
    ),
    "source-changed-at-check": Text(
        "The source of {table} changed during the check.", "Check it again when no program writes to it."
    ),
    "source-changed-at-copy": Text("The source of {table} changed while it was copied.", "Prepare it again."),
    "source-changed-column": Text(
        "The source of table {table} no longer has a column {column}. Nothing was published.",
        "Restore the column under its old name, and publish again.",
    ),
    "source-changed-public": Text(
        "The data of table {table} has changed since it was last checked. Nothing was spent.",
        "The curator must publish it again: db.publish({table!r}, ...).",
    ),
    "start-not-first-day": Text(
        "A monthly stream must start on the first day of a month.", "Give the first day of a month as start."
    ),
    "start-not-midnight": Text(
        "A stream with ticks of one {every} must start at midnight.", "Give start as a date."
    ),
    "start-of-question": Text("{ticks}s of a query begin on {begin}.", "Give start={start}."),
    "stream-bins": Text(
        "A CDF needs 1 to {most:,} bin edges in ascending order.",
        "Write bins=[10, 20, 30].",
        command_line=Words(remedy="Write --bins 10,20,30."),
    ),
    "stream-bins-outside": Text("The bin edges must lie within the range of the values.", "Widen the range."),
    "stream-budget-missing": Text(
        "The budget of the stream is missing.", "Write budget=jali.Budget(epsilon=1, delta=1e-6)."
    ),
    "stream-count-with-value": Text("A count takes neither value nor bins.", "Leave them out."),
    "stream-delta-without-epsilon": Text(
        "delta can only be combined with epsilon.", "Leave delta out, or give epsilon."
    ),
    "stream-exists": Text(
        "A stream {stream} already exists with another declaration.",
        "Open it with db.stream({stream!r}), or choose another name. Its explain() shows the declaration.",
        command_line=Words(
            remedy="See its declaration with jali stream show {asked_database} {stream:shell} --explain, or choose another name."
        ),
    ),
    "stream-follows-table": Text(
        "The stream {stream} reads a table.", "Add rows to the table; publish reads them."
    ),
    "stream-horizon-missing": Text(
        "The horizon of the stream is missing.",
        "Write horizon=365 for 365 ticks. If the number is unknown, horizon=None works at some cost in accuracy.",
    ),
    "stream-item-is-person": Text(
        "Each item is a person and counts once, in one tick.",
        "Leave max_ticks, separation and max_items out, or give a unit.",
        command_line=Words(remedy="Leave --max-ticks, --separation and --max-items out, or give --unit."),
    ),
    "stream-loss-missing": Text("The privacy loss of the stream is missing.", "Give epsilon or rho."),
    "stream-loss-twice": Text("epsilon and rho cannot be combined.", "Give only one of them."),
    "stream-mean-range": Text(
        "A mean needs a range of more than one value, and takes no bins.",
        "Write value=jali.Range(0, 100).",
        command_line=Words(remedy="Write --range 0:100."),
    ),
    "stream-mechanism-other": Text(
        "The stream {stream} was created with another version of its mechanism.",
        "Open it with the version of Jali that created it.",
    ),
    "stream-name-malformed": Text(
        "A stream name consists of letters, digits and underscores: {given!r} does not.", "Choose another name."
    ),
    "stream-name-of-table": Text("A table {table} already exists.", "Choose another name for the stream."),
    "stream-over": Text(
        "All {horizon:,} ticks of {stream} are published.",
        "Create another stream; the published values of this one stay.",
    ),
    "stream-query-not-text": Text("The query of a stream must be SQL text.", "Write query='SELECT ...'."),
    "stream-query-with-terms": Text(
        "With query=, the measure comes from the query, and the privacy unit and budget come from its table.",
        "With query= give only start, horizon, last or restart, epsilon or rho, max_ticks, separation and max_items.",
    ),
    "stream-range-zero": Text(
        "A sum with a range from 0 to 0 is always 0.",
        "Write jali.Range(0, 100).",
        command_line=Words(remedy="Write --range 0:100."),
    ),
    "stream-sum-range": Text(
        "A sum needs the range of its values, and takes no bins.",
        "Write value=jali.Range(0, 100).",
        command_line=Words(remedy="Write --range 0:100."),
    ),
    "stream-ticks-over": Text(
        "The stream {stream} has only {horizon:,} ticks.",
        "Name one of them. After the last, create another stream.",
    ),
    "stream-too-wide": Text(
        "A stream publishes at most {most:,} numbers per tick, not {width:,}.", "Declare fewer keys or bins."
    ),
    "stream-unit-malformed": Text("unit must be a word such as 'patient', or None, not {given!r}."),
    "stream-unit-missing": Text(
        "The privacy unit is missing.",
        "Write unit='patient' if an item belongs to a person, or unit=None if each item is a person.",
        command_line=Words(
            remedy="Give --unit WORD for the person an item is about, or --no-unit if each item is a person."
        ),
    ),
    "stream-unknown": Text(
        "There is no stream {stream}.", "{nearest:?Did you mean {nearest}? |}Streams: {streams:*, |none yet}."
    ),
    "stream-unpublished": Text(
        "The stream {stream} could not be published.",
        "Nothing was published or lost; run `jali verify`, then try again.",
    ),
    "table-closed": Text(
        "Table {table} is closed until its curator has checked it.",
        "Nothing was spent. The curator must run: jali check DATABASE {table}",
    ),
    "table-name-of-stream": Text("A stream {stream} already exists.", "Choose another name for the table."),
    "table-without-frame": Text("Table {table} is read from {location}, not from a frame."),
    "term-whole": Text("{name} must be a whole number of at least 1, not {given!r}."),
    "tick-malformed": Text("A tick must be a whole number of at least 1, not {given!r}."),
    "tick-none-published": Text("Tick {tick} is not published; no tick is published yet.", "Publish it first."),
    "tick-unpublished": Text(
        "Tick {tick} is not published; the last published tick is {last}.", "Publish it first."
    ),
    "token-days": Text("days must be between 1 and {most}, not {days}.", "Write days=90."),
    "token-name": Text("A token needs a name of up to {most} letters.", "Give the person's name."),
    "token-without-server": Text(
        "A token is only needed to connect to a server.", "Leave token out when you open a database."
    ),
    "too-many-ticks": Text("At most {most:,} ticks can be published at once.", "Name an earlier tick."),
    "until-beyond-horizon": Text(
        "{until} is beyond the horizon of {stream}, whose last tick ends at {last}.",
        "Name the last tick to publish, or give a time up to {last}.",
    ),
    "until-misplaced": Text(
        "`until` only applies to streams with a clock, and cannot be combined with a tick.",
        "Name the tick: publish(20).",
        command_line=Words(
            message="--until only applies to streams with a clock.", remedy="Name the tick: --tick 20."
        ),
    ),
    "until-too-early": Text("No tick of {stream} has ended by {until}.", "Give a later time."),
    "until-too-far": Text(
        "By {until}, {more:,} more ticks of {stream} will have ended.",
        "Give an earlier time. To publish all of them, name the last: publish({last}).",
        command_line=Words(remedy="Give an earlier time. To publish all of them, name the last: --tick {last}."),
    ),
    "value-range": Text(
        "value must be a Range of numbers, not {given!r}.",
        "Write jali.Range(0, 100).",
        command_line=Words(remedy="Write --range 0:100."),
    ),
    "weight-not-positive": Text(
        "weight must be above 0.", "Give weight=2 to a question that should get twice the share."
    ),
    "window-too-long": Text(
        "{name} is {ticks:,}, but the stream has {horizon:,} ticks.",
        "Leave {name} out: values then cover all ticks so far.",
    ),
    "window-too-wide": Text(
        "last can be at most {most:,} ticks with {columns:,} columns, not {ticks:,}.",
        "Use longer ticks, or restart, which keeps fewer numbers.",
    ),
}
