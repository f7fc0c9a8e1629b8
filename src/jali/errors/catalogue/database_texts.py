"""Texts about databases: asking, budgets that refuse a question, grants, receipts, copies, streams."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "adaptive-malformed": Text("adaptive must be True or False, not {given!r}."),
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
    "budget-fits-coarser": Text("This question would not be answered for less; coarser ones would."),
    "budget-fits-in-all": Text("What would fit: {subject} for {kind} {amount} in all."),
    "budget-fits-less": Text("A question with {terms} would still be answered."),
    "budget-fits-other-kind": Text("In {kind} nothing is left; a question with {terms} would be answered."),
    "budget-remaining": Text(
        "epsilon {epsilon:decimal} (or rho {rho:decimal}){has_delta:?, delta {delta:decimal}|}",
        page=Words(
            "epsilon {epsilon:decimal}{has_rho:? (or rho {rho:decimal})|}{has_delta:?, delta {delta:decimal}|}"
        ),
    ),
    "budget-used-up": Text("Nothing is left on this budget; answers already given can be asked again for free."),
    "budget-used-up-for-question": Text(
        "Nothing is left for this question; answers already given can be asked again for free."
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
    "declaration-too-long": Text("This declaration cannot be stored."),
    "declared-anew-at-copy": Text("{table} was declared anew while it was copied.", "Prepare it again."),
    "engine-failed-result": Text("The engine's result could not be used."),
    "every-unknown": Text("every must be one of {choices}, not {given!r}."),
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
    "horizon-beyond-calendar": Text(
        "{horizon} ticks of a {every} end beyond the calendar.", "Declare a shorter horizon."
    ),
    "key-without-query": Text(
        "key and late are for streams that follow a table.",
        "Give query= too.",
        command_line=Words(
            message="--key and --late are for streams that follow a table.", remedy="Give --query too."
        ),
    ),
    "last-and-restart": Text(
        "last and restart do not go together.",
        "Give last=7 for the last 7 ticks at every tick, or restart=7 to begin anew after every 7.",
        command_line=Words(remedy="Give --last 7, or --restart 7 to begin anew after every 7."),
    ),
    "late-malformed": Text("late must be a number of ticks, or None for all of them, not {given!r}."),
    "leaves-for-free": Text("answered before: free; {remaining} of {budget} stays"),
    "leaves-some": Text("{remaining} of {budget}"),
    "leaves-too-little": Text("the question would be refused: {remaining} is left"),
    "leaves-without-grant": Text(
        "the question would be refused: {analyst} has no grant on {table}; the curator gives one"
    ),
    "list-expected": Text("{name} must be a list, not {given!r}.", "Write {example}."),
    "max-ticks-too-many": Text(
        "max_ticks is {max_ticks:,}, more than the stream has room for: {spaced:?{fit:,} of its {horizon:,} are {separation:,} apart|it has {fit:,}}.",
        "Give {fit:,} or fewer: what one person may do is paid for, whether anybody does it or not.",
    ),
    "measure-unknown": Text("measure must be one of {measures}, not {given!r}."),
    "moment-malformed": Text(
        "{name} must be a date or a time without time zone, not {given!r}.", "Write '2026-01-31'."
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
    "separation-alone": Text(
        "separation is {separation:,}, but each person counts in one tick, with no other to be apart from.",
        "Give max_ticks too, or leave separation out.",
        command_line=Words(remedy="Give --max-ticks too, or leave --separation out."),
    ),
    "source-changed": Text(
        "The data of table {table} was changed since it was checked. Nothing was spent.",
        "The curator must refresh it: db.refresh({table!r}), or jali refresh DATABASE {table}.",
    ),
    "source-changed-at-check": Text(
        "The source of {table} was changed while it was checked.", "Check it again when nobody writes to it."
    ),
    "source-changed-at-copy": Text("The source of {table} was changed while it was copied.", "Prepare it again."),
    "source-changed-column": Text(
        "The source of table {table} no longer has a column {column}. Nothing was published.",
        "Put the column back under its name, and publish again.",
    ),
    "source-changed-public": Text(
        "The data of table {table} was changed since it was checked. Nothing was spent.",
        "The curator must publish it again: db.publish({table!r}, ...).",
    ),
    "start-not-first-day": Text("A month begins on its first day.", "Give such a start."),
    "start-not-midnight": Text("A {every} begins at midnight.", "Give start as a date."),
    "start-of-question": Text("{ticks}s of a question begin on {begin}.", "Start at {start}."),
    "stream-bins": Text(
        "A CDF needs 1 to {most:,} ends of cells that rise.",
        "Write bins=[10, 20, 30].",
        command_line=Words(remedy="Write --bins 10,20,30."),
    ),
    "stream-bins-outside": Text("The ends of cells lie within the range of the values.", "Widen the range."),
    "stream-budget-missing": Text(
        "What the stream may spend is not said.", "Write budget=jali.Budget(epsilon=1, delta=1e-6)."
    ),
    "stream-count-with-value": Text("A count needs no value and no bins.", "Leave them out."),
    "stream-delta-without-epsilon": Text("delta goes with epsilon.", "Leave it out, or give epsilon."),
    "stream-exists": Text(
        "There is a stream {stream} already, with another declaration.",
        "Open it with db.stream({stream!r}), or choose another name. explain() tells more.",
        command_line=Words(
            remedy="See it with: jali stream show {asked_database} {stream:shell} --explain. Or choose another name."
        ),
    ),
    "stream-follows-table": Text("The stream {stream} follows a table.", "Add rows to that; publish reads them."),
    "stream-horizon-missing": Text(
        "For how many ticks the stream lives is not said.",
        "Write horizon=365; or horizon=None if nobody knows, which costs accuracy.",
    ),
    "stream-item-is-person": Text(
        "Each item is a person: it is in one tick, once.",
        "Leave max_ticks, separation and max_items out, or give a unit.",
        command_line=Words(remedy="Leave --max-ticks, --separation and --max-items out, or give --unit."),
    ),
    "stream-loss-missing": Text("What the stream costs its table is not said.", "Give epsilon or rho."),
    "stream-loss-twice": Text("Give epsilon or rho, not both.", "Leave one out."),
    "stream-mean-range": Text(
        "A mean needs the range of its values, wider than one number, and no bins.",
        "Write value=jali.Range(0, 100).",
        command_line=Words(remedy="Write --range 0:100."),
    ),
    "stream-mechanism-other": Text(
        "The stream {stream} was made with another version of its mechanism.",
        "Open it with the version of Jali that made it.",
    ),
    "stream-name-malformed": Text(
        "A stream's name is letters, digits and underscores, not {given!r}.", "Choose such a name."
    ),
    "stream-name-of-table": Text("There is a table {table} already.", "Call the stream otherwise."),
    "stream-over": Text(
        "The horizon of {stream} is over: all of its {horizon:,} ticks are published.",
        "Make another stream; what this one published stays.",
    ),
    "stream-query-not-text": Text("A stream follows a question in SQL.", "Write query='SELECT ...'."),
    "stream-query-with-terms": Text(
        "The query says what is measured, and its table who the people are and what they have to spend.",
        "Beside query= give start, horizon, last or restart, epsilon or rho, max_ticks, separation and max_items; leave the others out.",
    ),
    "stream-range-zero": Text(
        "A range from 0 to 0 leaves nothing to sum.",
        "Write jali.Range(0, 100).",
        command_line=Words(remedy="Write --range 0:100."),
    ),
    "stream-sum-range": Text(
        "A sum needs the range of its values, and no bins.",
        "value=jali.Range(0, 100)",
        command_line=Words(remedy="Write --range 0:100."),
    ),
    "stream-ticks-over": Text(
        "The stream {stream} has {horizon:,} ticks, no more.",
        "Name one of them; after the last, make another stream.",
    ),
    "stream-too-wide": Text(
        "A stream counts at most {most:,} numbers side by side, not {width:,}.", "Declare fewer keys or bins."
    ),
    "stream-unit-malformed": Text("unit must be a word such as 'patient', or None, not {given!r}."),
    "stream-unit-missing": Text(
        "Whose privacy counts is not said.",
        "Write unit='patient' if items have owners, or unit=None if each item is a person.",
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
        "Table {table} is closed until its curator has looked at it. Nothing was spent.",
        "The curator runs: jali check DATABASE {table}",
    ),
    "table-name-of-stream": Text("There is a stream {stream} already.", "Call the table otherwise."),
    "table-without-frame": Text("Table {table} is read from {location}, not from a frame."),
    "term-whole": Text("{name} must be a whole number of at least 1, not {given!r}."),
    "tick-malformed": Text("A tick is a whole number from 1, not {given!r}."),
    "tick-none-published": Text("Tick {tick} is not published. Nothing is yet.", "Publish it first."),
    "tick-unpublished": Text("Tick {tick} is not published. The last is tick {last}.", "Publish it first."),
    "token-days": Text("days must be between 1 and {most}, not {days}.", "Write days=90."),
    "token-name": Text("A token needs a name of up to {most} letters.", "Give the person's name."),
    "token-without-server": Text("A token opens a server, not a database.", "Leave token out."),
    "too-many-ticks": Text("At most {most:,} ticks are published at once.", "Name an earlier tick."),
    "until-beyond-horizon": Text(
        "{until} lies beyond the horizon of {stream}, whose last tick ends at {last}.",
        "Name the last tick that is to be closed, or give a time up to {last}.",
    ),
    "until-misplaced": Text(
        "`until` is for streams with a clock, and instead of a tick.",
        "Name the tick: publish(20).",
        command_line=Words(message="--until is for streams with a clock.", remedy="Name the tick: --tick 20."),
    ),
    "until-too-early": Text("No tick of {stream} has ended by {until}.", "Give a later time."),
    "until-too-far": Text(
        "By {until}, {more:,} more ticks of {stream} will have ended.",
        "Give an earlier time; or, if all of them are to be closed, name the last: publish({last}).",
        command_line=Words(
            remedy="Give an earlier time; or, if all of them are to be closed, name the last: --tick {last}."
        ),
    ),
    "value-range": Text(
        "value must be a Range of numbers, not {given!r}.",
        "Write jali.Range(0, 100).",
        command_line=Words(remedy="Write --range 0:100."),
    ),
    "weight-not-positive": Text(
        "weight is a number above 0.", "Give weight=2 to what should be twice as important."
    ),
    "window-too-long": Text(
        "{name} is {ticks:,}, and the stream has {horizon:,} ticks.",
        "Leave {name} out: without it values are over all ticks so far.",
    ),
    "window-too-wide": Text(
        "last can be {most:,} ticks of {columns:,} columns, not {ticks:,}.",
        "Take longer ticks, or restart, which keeps fewer numbers.",
    ),
}
