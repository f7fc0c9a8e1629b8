"""Texts about counters of streams."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
    "buffer-numbers-wrong": Text("{name} must be {buffers} numbers, one for each buffer, not {values!r}."),
    "buffers-too-many": Text("buffers must be at most {most}, not {buffers}.", "Give 4 or 5."),
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
    "participation-norms-wrong": Text("l2 cannot be above l1.", "Leave it out."),
    "person-not-a-participation": Text(
        "person must be a Participation, not {person!r}.",
        'For example person=Participation(adjacency="add-remove").',
    ),
    "radix-even": Text("radix must be odd, not {radix}.", "Leave it out for the best one."),
    "stream-delta-with-rho": Text("{name} goes with epsilon, not with rho.", "Leave it out."),
    "stream-not-integers": Text("A stream must be integers, one for each tick."),
    "stream-without-matrix": Text("A stream without an end has no matrix.", "Ask `part(0).strategy()`."),
    "tick-beyond-horizon": Text("tick must be at most the horizon, {horizon}, not {tick}."),
    "toeplitz-grain-too-fine": Text("grain must be at most 2^24."),
    "toeplitz-horizon-too-long": Text(
        "{name} must be at most 2^22 for ToeplitzRoot, which keeps all of the past.", "Use BufferedToeplitz."
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
