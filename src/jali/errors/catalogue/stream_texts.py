"""Texts about counters of streams, and about the local model."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "buffer-numbers-wrong": Text("{name} must be {buffers} numbers, one for each buffer, not {values!r}."),
    "buffers-too-many": Text("buffers must be at most {most}, not {buffers}.", "Give 4 or 5."),
    "categories-not-whole": Text("values must be whole numbers: the categories 0, 1, 2 and so on."),
    "categories-too-many": Text(
        "categories must be at most 2**32, not {categories}.", "Put rare ones together, or hash them."
    ),
    "category-not-whole": Text("value must be one whole number: a person's category."),
    "counter-add-delta": Text("Add a delta, or give rho instead of epsilon: they allow for Gaussian noise."),
    "counter-give-epsilon": Text("Give epsilon instead of rho."),
    "counter-goal-unknown": Text('{name} must be "largest" or "rms", not {by!r}.'),
    "counter-keeps-too-much": Text("keeps more than {most:,} number{most:?|s}."),
    "counter-needs-horizon": Text("{counter} needs a horizon.", "Take doubling where nobody knows one."),
    "counter-none-fits": Text("No counter fits: {reason}", "{possible:?Allow for more memory.|Take fewer ticks.}"),
    "counter-not-forecast": Text("errors are not forecast beyond {most:,} tick{most:?|s}."),
    "counter-not-taken": Text("{counter} cannot be taken: {reason}", "{advice}"),
    "counter-promise-oblivious": Text(
        "Promise that none depends on them, if that is so: adaptive=False, or --oblivious.",
        command_line=Words("Promise that none depends on them, if that is so: --oblivious."),
    ),
    "counter-state-wrong": Text(
        "This is no state of a stream of this counter.",
        "Give the text that running.state() of the same counter returned.",
    ),
    "counter-stream-wrong": Text("A stream must be 1 to {horizon} integers, one for each tick."),
    "counter-take-another": Text("Take another counter."),
    "counter-unknown": Text("There is no counter {counter!r}.", "Take one of {counters}."),
    "counter-unproved": Text("not proved for streams whose increments depend on published values."),
    "counter-without-noise": Text("there is no {noise} noise for it.", besides=("loss",)),
    "decays-out-of-range": Text("decays must fall and lie between 0 and 1.", "Leave them out."),
    "decays-without-weights": Text("Give decays and weights, both or neither.", "Leave both out."),
    "horizon-over": Text(
        "The horizon of {horizon} ticks is over.", "Start a stream with a longer horizon, or with none."
    ),
    "horizon-too-long": Text("{name} must be below {longest}, not {ticks}."),
    "increments-count-wrong": Text("The increments of a tick must be {width} integers, one for each key."),
    "increments-not-integers": Text(
        "The increments of a stream are integers.",
        'Count in whole units, such as cents, and divide what is published; or let a database do it: db.stream(..., measure="sum", value=jali.Range(0, 100)).',
    ),
    "item-malformed": Text(
        "An item is an Item, or a mapping that has 'item', and may have 'owner', 'key' and 'value'.",
        "Write jali.streams.Item('e1', owner='p1'), or {{'item': 'e1', 'owner': 'p1'}}.",
    ),
    "items-as-frame": Text(
        "A frame is no list of items.",
        "Write st.append(frame.{rows}); its columns are item, and owner, key and value if needed.",
    ),
    "items-not-a-list": Text("Items are appended many at once.", "Write st.append([item])."),
    "last-with-restart": Text("{name} and restart do not go together.", "Leave one of them out."),
    "lattice-too-fine": Text("lattice must be at most {finest}, not {lattice}.", "Leave it out."),
    "local-supports-wrong": Text("supports must lie between 0 and people, for at least one category."),
    "participation-norms-wrong": Text("l2 cannot be above l1.", "Leave it out."),
    "person-not-a-participation": Text(
        "person must be a Participation, not {person!r}.",
        'For example person=Participation(adjacency="add-remove").',
    ),
    "radix-even": Text("radix must be odd, not {radix}.", "Leave it out for the best one."),
    "randomizer-wrong": Text("mechanism must be a randomizer of the local model, not {mechanism!r}."),
    "reports-empty": Text("Nobody reported: people must be at least 1."),
    "reports-not-a-list": Text("{name} must be a list or array of one whole number per person."),
    "reports-not-a-matrix": Text("reports must be a matrix of {columns} columns, one row for each person."),
    "reports-out-of-range": Text("reports must be whole numbers from 0 to {last}, as `randomize` makes them."),
    "shares-count-wrong": Text("{name} must list {categories} categories, not {count}."),
    "shares-malformed": Text("{name} must list the share of each category, not {shares!r}."),
    "shares-sum-wrong": Text("{name} must sum to 1, not {total:g}."),
    "shares-too-long": Text("{name} must be short decimals or fractions."),
    "shuffling-delta-zero": Text("{name} must be above 0.", "At delta 0 shuffling hides nothing."),
    "shuffling-epsilon-too-large": Text(
        "{name} must be at most ln(people / (16 ln(2/delta))) = {largest:.6g} for this bound.",
        "Take more people or a larger delta, or use shuffled(), which has no such limit.",
    ),
    "stream-delta-with-rho": Text("{name} goes with epsilon, not with rho.", "Leave it out."),
    "stream-not-integers": Text("A stream must be integers, one for each tick."),
    "stream-without-matrix": Text("A stream without an end has no matrix.", "Ask `part(0).strategy()`."),
    "tick-beyond-horizon": Text("tick must be at most the horizon, {horizon}, not {tick}."),
    "toeplitz-grain-too-fine": Text("grain must be at most 2^24."),
    "toeplitz-horizon-too-long": Text(
        "{name} must be at most 2^22 for ToeplitzRoot, which keeps all of the past.", "Use BufferedToeplitz."
    ),
    "truth-or-epsilon": Text("Give either truth or epsilon.", "For example truth='3/4', or epsilon=1."),
    "truth-out-of-range": Text(
        "truth must lie between 0 and 1 and not be 1/2, not {truth}.",
        "A coin of 1/2 says nothing, and one of 0 or 1 hides nothing.",
    ),
    "weights-out-of-range": Text(
        "weights must be above 0, and weights over decays must sum to less than 1.", "Leave them out."
    ),
    "width-above-keys": Text("width must be at most keys={keys}, not {width}.", "Give more keys."),
    "window-counter-unknown": Text("There is no counter {counter!r} for windows.", "Take one of {counters}."),
    "window-counter-without-noise": Text("{name} cannot be {counter}, which has no noise for {loss}."),
    "window-counter-wrong": Text(
        "{name} must be the name of a counter with a horizon, not {counter!r}.", "There are {counters}."
    ),
}
