"""Texts about counters of streams, and about the local model."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "buffer-numbers-wrong": Text("{name} must be {buffers} numbers, one per buffer, not {values!r}."),
    "buffers-too-many": Text("buffers must be at most {most}, not {buffers}.", "Give 4 or 5."),
    "categories-not-whole": Text("values must be whole numbers: the categories 0, 1, 2 and so on."),
    "categories-too-many": Text(
        "categories must be at most 2**32, not {categories}.", "Merge rare categories, or hash them."
    ),
    "category-not-whole": Text("value must be one whole number, the category of one person."),
    "counter-add-delta": Text("Add a delta, or give rho instead of epsilon, to allow Gaussian noise."),
    "counter-give-epsilon": Text("Give epsilon instead of rho."),
    "counter-goal-unknown": Text('{name} must be "largest" or "rms", not {by!r}.'),
    "counter-keeps-too-much": Text("it keeps more than {most:,} number{most:?|s}."),
    "counter-needs-horizon": Text(
        "{counter} needs a horizon.", "Use the doubling counter if the horizon is unknown."
    ),
    "counter-none-fits": Text("No counter fits: {reason}", "{possible:?Allow more memory.|Use fewer ticks.}"),
    "counter-not-forecast": Text("errors are not forecast beyond {most:,} tick{most:?|s}."),
    "counter-not-taken": Text("{counter} cannot be used: {reason}", "{advice}"),
    "counter-promise-oblivious": Text(
        "If no increment depends on published values, declare adaptive=False or --oblivious.",
        command_line=Words("If no increment depends on published values, declare --oblivious."),
    ),
    "counter-state-wrong": Text(
        "This is not a stream state of this counter.",
        "Pass the text that running.state() of the same counter returned.",
    ),
    "counter-stream-wrong": Text("A stream must be 1 to {horizon} integers, one per tick."),
    "counter-take-another": Text("Choose another counter."),
    "counter-unknown": Text("There is no counter {counter!r}.", "Choose one of {counters}."),
    "counter-unproved": Text("its guarantee is not proved for increments that depend on published values."),
    "counter-without-noise": Text("it does not support {noise} noise.", besides=("loss",)),
    "decays-out-of-range": Text("decays must be decreasing and between 0 and 1.", "Leave them out."),
    "decays-without-weights": Text("decays and weights must be given together.", "Give both, or leave both out."),
    "horizon-over": Text(
        "All {horizon} ticks of the horizon are published.",
        "Start a stream with a longer horizon, or without one.",
    ),
    "horizon-too-long": Text("{name} must be below {longest}, not {ticks}."),
    "increments-count-wrong": Text("The increments of a tick must be {width} integers, one per key."),
    "increments-not-integers": Text(
        "The increments of a stream must be integers.",
        'Count in whole units, such as cents, and divide the published values; or let the database do so: db.stream(..., measure="sum", value=jali.Range(0, 100)).',
    ),
    "item-malformed": Text(
        "An item must be an Item, or a mapping with 'item' and optionally 'owner', 'key' and 'value'.",
        "Write jali.streams.Item('e1', owner='p1'), or {{'item': 'e1', 'owner': 'p1'}}.",
    ),
    "items-as-frame": Text(
        "A frame is not a list of items.",
        "Write st.append(frame.{rows}). Its columns are item and, if needed, owner, key and value.",
    ),
    "items-not-a-list": Text("Items must be given as a list.", "Write st.append([item])."),
    "last-with-restart": Text("{name} and restart cannot be combined.", "Give only one of them."),
    "lattice-too-fine": Text("lattice must be at most {finest}, not {lattice}.", "Leave it out."),
    "local-supports-wrong": Text("supports must be numbers between 0 and people, for at least one category."),
    "participation-norms-wrong": Text("l2 cannot be above l1.", "Leave it out."),
    "person-not-a-participation": Text(
        "person must be a Participation, not {person!r}.",
        'For example person=Participation(adjacency="add-remove").',
    ),
    "radix-even": Text("radix must be odd, not {radix}.", "Leave it out for the best one."),
    "randomizer-wrong": Text("mechanism must be a randomizer of the local model, not {mechanism!r}."),
    "reports-empty": Text("There are no reports: people must be at least 1."),
    "reports-not-a-list": Text("{name} must be a list or array of one whole number per person."),
    "reports-not-a-matrix": Text("reports must be a matrix of {columns} columns, one row per person."),
    "reports-out-of-range": Text("reports must be whole numbers from 0 to {last}, as returned by `randomize`."),
    "shares-count-wrong": Text("{name} must list {categories} categories, not {count}."),
    "shares-malformed": Text("{name} must list the share of each category, not {shares!r}."),
    "shares-sum-wrong": Text("{name} must sum to 1, not {total:g}."),
    "shares-too-long": Text("{name} must be short decimals or fractions."),
    "shuffling-delta-zero": Text("{name} must be above 0.", "With delta 0, shuffling does not amplify privacy."),
    "shuffling-epsilon-too-large": Text(
        "{name} must be at most ln(people / (16 ln(2/delta))) = {largest:.6g} for this bound.",
        "Use more people, a larger delta, or shuffled(), which has no such limit.",
    ),
    "stream-delta-with-rho": Text("{name} can be combined with epsilon, not with rho.", "Leave it out."),
    "stream-not-integers": Text("A stream must be integers, one per tick."),
    "stream-without-matrix": Text("A stream without a horizon has no matrix.", "Use `part(0).strategy()`."),
    "tick-beyond-horizon": Text("tick must be at most the horizon, {horizon}, not {tick}."),
    "toeplitz-grain-too-fine": Text("grain must be at most 2^24."),
    "toeplitz-horizon-too-long": Text(
        "{name} must be at most 2^22 for ToeplitzRoot, which keeps the whole past in memory.",
        "Use BufferedToeplitz.",
    ),
    "truth-or-epsilon": Text("Give either truth or epsilon.", "For example truth='3/4', or epsilon=1."),
    "truth-out-of-range": Text(
        "truth must lie between 0 and 1 and not be 1/2, not {truth}.",
        "A truth probability of 1/2 carries no information, and 0 or 1 gives no privacy.",
    ),
    "weights-out-of-range": Text(
        "weights must be above 0, and weights over decays must sum to less than 1.", "Leave them out."
    ),
    "width-above-keys": Text("width must be at most keys={keys}, not {width}.", "Give more keys."),
    "window-counter-unknown": Text("There is no counter {counter!r} for windows.", "Choose one of {counters}."),
    "window-counter-without-noise": Text("{name} cannot be {counter}, which does not support {loss}."),
    "window-counter-wrong": Text(
        "{name} must be the name of a counter with a horizon, not {counter!r}.", "Choose one of {counters}."
    ),
}
