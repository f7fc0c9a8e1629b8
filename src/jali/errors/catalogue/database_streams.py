"""Texts about streams of a database."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
    "adaptive-malformed": Text("adaptive must be True or False, not {given!r}."),
    "bins-numbers": Text("bins must be numbers, not {given!r}.", "Write bins=[10, 20, 50]."),
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
    "declaration-too-long": Text("This declaration cannot be stored."),
    "every-unknown": Text("every must be one of {choices}, not {given!r}."),
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
    "list-expected": Text("{name} must be a list, not {given!r}.", "Write {example}."),
    "max-ticks-too-many": Text(
        "max_ticks is {max_ticks:,}, more than the stream has room for: {spaced:?{fit:,} of its {horizon:,} are {separation:,} apart|it has {fit:,}}.",
        "Give {fit:,} or fewer: what one person may do is paid for, whether anybody does it or not.",
    ),
    "measure-unknown": Text("measure must be one of {measures}, not {given!r}."),
    "moment-malformed": Text(
        "{name} must be a date or a time without time zone, not {given!r}.", "Write '2026-01-31'."
    ),
    "separation-alone": Text(
        "separation is {separation:,}, but each person counts in one tick, with no other to be apart from.",
        "Give max_ticks too, or leave separation out.",
        command_line=Words(remedy="Give --max-ticks too, or leave --separation out."),
    ),
    "source-changed-column": Text(
        "The source of table {table} no longer has a column {column}. Nothing was published.",
        "Put the column back under its name, and publish again.",
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
    "term-whole": Text("{name} must be a whole number of at least 1, not {given!r}."),
    "tick-malformed": Text("A tick is a whole number from 1, not {given!r}."),
    "tick-none-published": Text("Tick {tick} is not published. Nothing is yet.", "Publish it first."),
    "tick-unpublished": Text("Tick {tick} is not published. The last is tick {last}.", "Publish it first."),
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
    "window-too-long": Text(
        "{name} is {ticks:,}, and the stream has {horizon:,} ticks.",
        "Leave {name} out: without it values are over all ticks so far.",
    ),
    "window-too-wide": Text(
        "last can be {most:,} ticks of {columns:,} columns, not {ticks:,}.",
        "Take longer ticks, or restart, which keeps fewer numbers.",
    ),
}
