"""Texts about mechanisms."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "adjacency-unlike-sensitivity": Text(
        "adjacency is {adjacency}, but the sensitivity was declared for {declared}.", "Leave adjacency out."
    ),
    "conditioned-scale-too-large": Text("scale must be at most 2**40.", "Give a larger epsilon."),
    "coordinate-out-of-range": Text("place must be from 0 to {last}, not {place}."),
    "coordinates-not-one": Text("coordinates must be 1 for {mechanism}, not {coordinates!r}."),
    "coordinates-too-many": Text("coordinates must be at most the dimension, {dimension}, not {coordinates}."),
    "counts-are-text": Text(
        "counts must be numbers, not text.", "mode(values, keys) and count_members(records, sets) count records."
    ),
    "delta-not-below-half": Text("delta must be below 1/2, not {delta}."),
    "domain-empty": Text("domain must have at least one value.", "For example domain=range(10)."),
    "for-error-finds-loss": Text("{name} is what for_error looks for.", "Leave {name} out."),
    "function-returns-infinity": Text("function must return finite numbers, not {value}."),
    "function-returns-no-numbers": Text("function must return a number or a sequence of numbers, not {value!r}."),
    "function-returns-other-length": Text("function must return as many numbers for every table."),
    "key-counts-not-a-mapping": Text("The value must be a mapping from keys to whole numbers of people."),
    "key-counts-not-an-array": Text("counts must be an array of whole numbers of people, in one dimension."),
    "key-counts-not-whole": Text("The value must map keys to whole numbers of people."),
    "key-epsilon-out-of-range": Text(
        "epsilon, divided among the keys that one person's change can move, must be from 2**-40 to 2**9.",
        "Choose another epsilon or max_keys.",
    ),
    "key-records-not-pairs": Text(
        "records must be pairs of a person and a key, both of them hashable.",
        "For example [('ann', 'rare'), ('bob', 'common')].",
    ),
    "keys-not-hashable": Text("keys must be hashable, such as numbers, text and tuples."),
    "keys-repeated": Text("keys must all be different."),
    "l-infinity-scale-too-large": Text("scale must be at most 2**60 steps.", "Give a larger epsilon or step."),
    "local-sensitivity-not-a-number": Text("The local sensitivity must be a number, not {kind}."),
    "low-not-below-high": Text("low must be below high, not {low} and {high}."),
    "mechanism-dimension-wrong": Text(
        "The mechanism was made for dimension={dimension}, not for values of shape {shape!r}.",
        "Give one row of values, and dimension={size}.",
    ),
    "mechanism-takes-one-number": Text("{mechanism} takes one number.", "Take Laplace for several."),
    "mechanism-width-wrong": Text(
        "The mechanism was made for dimension={dimension} and got {size} values.", "Give dimension={size}."
    ),
    "monotone-under-replace-one": Text(
        "monotone values all move the same way between neighbours: counts do under add-remove, not under replace-one.",
        "Say adjacency='add-remove' if the loss is meant so, or leave monotone out.",
    ),
    "monotone-unlike-sensitivity": Text(
        "monotone: the sensitivity says that values may move either way.", "Leave monotone out."
    ),
    "no-loss-keeps-error": Text("within: no loss up to 2**60 keeps {wish}.", "Wish for a larger error."),
    "price-range-method-wrong": Text(
        "method must be 'exponential' for a PriceRange, not {method!r}.",
        "Leave method out, or list the prices, as geometric_prices does.",
    ),
    "prices-empty": Text("prices must not be empty."),
    "prices-not-a-list": Text("prices must be a list of numbers, not a mapping, dates or a masked array."),
    "proposal-distance-wrong": Text("The distance of a Proposal must be a whole number of changes."),
    "public-range-missing": Text("{name} is missing.", "Give a statistic, or the public range low and high."),
    "public-range-with-statistic": Text("{name} is told by the statistic.", "Leave {name} out."),
    "records-or-sets-wrong": Text("records must be a list, and sets a mapping of keys to sets."),
    "sensitivity-below-one": Text(
        "sensitivity is below 1, and integers move by whole steps.",
        "Give `step=` to release real values on a lattice.",
    ),
    "set-not-a-container": Text("sets[{key!r}] must be a container or a predicate, not {kind}."),
    "sparse-answers-unpaid": Text("Without epsilon_answers no values are told.", "Give epsilon_answers=."),
    "sparse-queries-too-large": Text("queries must be at most 1e300."),
    "sparse-value-not-one": Text("A question has one value, and the threshold is one number."),
    "sparse-values-not-a-sequence": Text("values must be a sequence of numbers, one for each question."),
    "stable-function-wrong": Text("function must be a function of a tuple of rows, not {kind}."),
    "stable-mode-table-wrong": Text("table must be a list of categories, or a mapping of categories to numbers."),
    "stable-rows-not-hashable": Text("rows must be a list of hashable rows."),
    "stable-rows-repeated": Text("rows must be different from each other, and at least one."),
    "stable-rows-wrong": Text("rows must be a list of hashable rows, not {kind}."),
    "stable-table-wrong": Text("table must be a list of rows, not {kind}."),
    "stable-value-not-a-pair": Text("The value must be a pair (answer, distance) with a whole number of changes."),
    "staircase-steps-wrong": Text(
        "sensitivity must be at most 2**60 steps, and epsilon at least 2**-60.", "Give a larger step or epsilon."
    ),
    "statistic-needs-replace-one": Text(
        "adjacency: under add-remove the number of people is private; a {statistic} has no sensitivity 1/n.",
        "Release a sum or count and the number of people, and divide; or declare replace-one.",
    ),
    "statistic-wrong": Text("statistic must be a Statistic, not {statistic!r}."),
    "step-too-large-for-range": Text("step is so large that the range has fewer than two marks."),
    "step-too-small-for-range": Text("step is so small that the range has more than 2**60 marks."),
    "test-epsilon-out-of-range": Text(
        "{name} must be from 2**-40 to 2**9 for the test.", "Choose another {name}."
    ),
    "top-k-mechanism-unknown": Text("mechanism must be 'joint' or 'gumbel', not {mechanism!r}."),
    "top-k-too-few-keys": Text("k is {k}, and there are {count} keys only."),
    "value-not-a-proposal": Text("Without a statistic, the value must be a Proposal(value, distance)."),
    "value-not-measured": Text("Without a statistic, the value must be a Measured(value, local)."),
    "values-not-a-column": Text("values must be a list or a one-dimensional array, not {kind}."),
    "values-not-integers": Text(
        "This mechanism takes integers.", "Give `step=` to release real numbers on a lattice."
    ),
    "values-not-numbers": Text(
        "values must be numbers, not {kind}.",
        "Give an integer, a float, a Fraction or a Decimal, or a rectangular array of such.",
    ),
    "values-not-one-dimensional": Text("values must be a column: a list or an array of one dimension."),
    "values-not-rectangular": Text("values must be a number or a rectangular array of numbers."),
    "watch-copied": Text(
        "A watch cannot be copied or stored: its noise serves once.", "Start another; it spends anew."
    ),
    "watch-other-process": Text("A watch belongs to the process that started it.", "Start another here."),
    "watch-positives-used-up": Text(
        "The budget of positive answers is used up: {positives} of {positives} values were found above the threshold.",
        "Start another watch; it spends the loss anew.",
    ),
}
