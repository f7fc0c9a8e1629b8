"""Texts about mechanisms: samplers, quantiles, selection, smooth sensitivity, regression, workloads."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text

TEXTS: Mapping[str, Text] = {
    "adjacency-unlike-sensitivity": Text(
        "adjacency is {adjacency}, but the sensitivity is declared for {declared}.", "Leave adjacency out."
    ),
    "best-not-a-sensitivity": Text("best must be one of the sensitivities, not {best}."),
    "bits-too-wide": Text("width must be at most 64 bits, not {width}."),
    "candidates-too-many": Text("candidates must be at most 2**53."),
    "closed-side-unknown": Text("closed must be 'left' or 'right', not {closed!r}."),
    "conditioned-scale-too-large": Text("scale must be at most 2**40.", "Give a larger epsilon."),
    "consistency-row-wrong": Text("Give one row of finite numbers, at least one, below 1e300 in size."),
    "consistency-total-wrong": Text("total must be a finite number of at least 0, not {total!r}."),
    "consistency-weights-wrong": Text("weights must be above 0, one for each value."),
    "coordinate-out-of-range": Text("place must be from 0 to {last}, not {place}."),
    "coordinates-not-one": Text("coordinates must be 1 for {mechanism}, not {coordinates!r}."),
    "coordinates-too-many": Text("coordinates must be at most the dimension, {dimension}, not {coordinates}."),
    "counts-are-text": Text(
        "counts must be numbers, not text.", "mode(values, keys) and count_members(records, sets) count records."
    ),
    "degrees-too-many": Text(
        "degrees must be at most {most}.", "Above that the distribution is nearly normal; 3 to 8 are good choices."
    ),
    "delta-not-below-half": Text("delta must be below 1/2, not {delta}."),
    "domain-empty": Text("domain must have at least one value.", "For example domain=range(10)."),
    "fanout-malformed": Text("fanout must be a whole number or several, not {fanout!r}."),
    "fanout-too-small": Text("fanout {fanout!r} gives fewer than {cells} leaves."),
    "features-not-ranges": Text("features must be a list of ranges, one or more, not {features!r}."),
    "for-error-finds-loss": Text("for_error computes {name}.", "Leave {name} out."),
    "function-returns-infinity": Text("function must return finite numbers, not {value}."),
    "function-returns-no-numbers": Text("function must return a number or a sequence of numbers, not {value!r}."),
    "function-returns-other-length": Text("function must return as many numbers for every table."),
    "gamma-too-small": Text(
        "gamma must be at least {least}, not {gamma}.",
        "Closer to 1 the numbers are too large to sample; use 1.1 or more.",
    ),
    "grain-too-coarse": Text("grain is too coarse: the strategy cannot be inverted."),
    "grouping-sets-cells-wrong": Text("Table {index} must have {cells} cells."),
    "grouping-sets-columns-wrong": Text("sets must name columns from 0 to {last}."),
    "grouping-sets-malformed": Text("sets must have at least one set of column numbers in ascending order."),
    "grouping-sets-sizes-wrong": Text("sizes must be at least 1.", "Declare at least one key for each column."),
    "grouping-sets-table-uncovered": Text("A table that is not measured must be a marginal of one that is."),
    "grouping-sets-too-many": Text("Too many grouping sets.", "Use fewer grouping sets."),
    "grouping-sets-variances-wrong": Text("variances must be numbers of at least 0, one for each set."),
    "growth-too-small": Text("growth must be at least {least}, not {value}."),
    "histogram-wrong": Text("The histogram must be {cells} integers, one per cell."),
    "key-counts-not-a-mapping": Text("The value must be a mapping from keys to whole numbers of people."),
    "key-counts-not-an-array": Text("counts must be a one-dimensional array of whole numbers of people."),
    "key-counts-not-whole": Text("The value must map keys to whole numbers of people."),
    "key-epsilon-out-of-range": Text(
        "epsilon, divided among the keys that one person's change can move, must be from 2**-40 to 2**9.",
        "Choose another epsilon or max_keys.",
    ),
    "key-records-not-pairs": Text(
        "records must be pairs of a person and a key, both of them hashable.",
        "For example [('ann', 'rare'), ('bob', 'common')].",
    ),
    "keyed-bits-copied": Text("bits: a keyed stream cannot be copied or stored; create a new one."),
    "keyed-bits-other-thread": Text(
        "bits: this keyed stream belongs to another thread.", "Use system_bits() in each thread."
    ),
    "keys-not-hashable": Text("keys must be hashable, such as numbers, text and tuples."),
    "keys-repeated": Text("keys must all be different."),
    "l-infinity-scale-too-large": Text("scale must be at most 2**60 steps.", "Give a larger epsilon or step."),
    "lecture-epsilon-too-large": Text("epsilon must be at most 1 for the lecture's constants, not {epsilon}."),
    "lecture-without-constants": Text("The lecture has no constants for family {family!r}."),
    "local-sensitivity-not-a-number": Text("The local sensitivity must be a number, not {kind}."),
    "low-not-below-high": Text("low must be below high, not {low} and {high}."),
    "marginal-weights-wrong": Text("weights must be {count} numbers, one for each marginal, not {weights!r}."),
    "marginals-law-unlisted": Text(
        "The distribution is only tabulated for marginals of single attributes with two values."
    ),
    "marginals-sets-wrong": Text("sets must have at least one marginal, with attributes numbered from 0."),
    "mechanism-dimension-wrong": Text(
        "The mechanism has dimension={dimension}, which does not match values of shape {shape!r}.",
        "Pass one row of values, and set dimension={size}.",
    ),
    "mechanism-takes-one-number": Text("{mechanism} takes one number.", "Use Laplace for several numbers."),
    "mechanism-width-wrong": Text(
        "The mechanism has dimension={dimension} but got {size} values.", "Set dimension={size}."
    ),
    "monotone-under-replace-one": Text(
        "monotone requires that all values change in the same direction between neighbours: counts do under add-remove, not under replace-one.",
        "Give adjacency='add-remove' if the loss holds for it, or leave monotone out.",
    ),
    "monotone-unlike-sensitivity": Text(
        "monotone contradicts the sensitivity, which allows changes in both directions.", "Leave monotone out."
    ),
    "no-loss-keeps-error": Text("within: no loss up to 2**60 achieves {wish}.", "Allow a larger error."),
    "numerators-negative": Text("numerators must be at least 0."),
    "numerators-not-a-list": Text("numerators must be a one-dimensional array of integers."),
    "numerators-not-integers": Text("numerators must be integers; an object array may hold Python ints only."),
    "piecewise-entries-wrong": Text("{name} must have one more entry than breaks."),
    "power-out-of-range": Text("power must be above 0 and at most 1/2, not {power!r}."),
    "price-range-method-wrong": Text(
        "method must be 'exponential' for a PriceRange, not {method!r}.",
        "Leave method out, or list the prices, as geometric_prices does.",
    ),
    "prices-empty": Text("prices must not be empty."),
    "prices-not-a-list": Text("prices must be a list of numbers, not a mapping, dates or a masked array."),
    "probability-out-of-range": Text("{name} must be in [0, 1], not {p}."),
    "proposal-distance-wrong": Text("The distance of a Proposal must be a whole number of row changes."),
    "public-range-missing": Text("{name} is missing.", "Give a statistic, or the public bounds low and high."),
    "public-range-with-statistic": Text("{name} is given by the statistic.", "Leave {name} out."),
    "quantile-epsilon-out-of-range": Text("epsilon must be from {least:.0e} to {most:.0e}."),
    "quantiles-malformed": Text("at must be a list of quantiles from 0 to 1.", "Give at=(0.25, 0.5, 0.75)."),
    "quantiles-not-rising": Text(
        "at must be in ascending order, without repetitions.",
        "Quantiles that agree to about six digits count as equal.",
    ),
    "records-or-sets-wrong": Text("records must be a list, and sets a mapping of keys to sets."),
    "regression-parameter-extreme": Text("{name} is out of proportion to the ranges of feature and target."),
    "regression-table-wrong": Text("The table must have {count} columns: one row per person, the target last."),
    "score-not-piecewise": Text("IntervalExponential takes a Piecewise score."),
    "scores-as-mapping": Text(
        "{name} must be a list or an array of numbers, not a mapping.",
        "heavy_hitter and top_k take mappings; here pass list(mapping.values()).",
    ),
    "scores-not-exact": Text(
        "{name} must be exact: integers or Fractions, not {kind}.",
        "Give `step=` to round real numbers to a lattice.",
    ),
    "selection-noise-unknown": Text("noise must be 'exponential', 'gumbel' or 'laplace', not {noise!r}."),
    "selection-scale-too-large": Text(
        "sensitivity/epsilon, the noise scale, must be at most 10^300.",
        "Measure scores in a larger unit, or use a larger epsilon.",
    ),
    "sensitivities-not-a-list": Text("sensitivities must be a list of numbers, not {sensitivities!r}."),
    "sensitivities-unlike-scores": Text(
        "There are {sensitivities} sensitivities but {scores} scores: give one sensitivity per score."
    ),
    "sensitivity-below-one": Text(
        "sensitivity is below 1, but integers change by at least 1.",
        "Give `step=` to release real values on a lattice.",
    ),
    "set-not-a-container": Text("sets[{key!r}] must be a container or a predicate, not {kind}."),
    "size-malformed": Text("size must be a non-negative integer, not {size!r}."),
    "smooth-alpha-without-noise": Text(
        "alpha: no noise is admissible at this beta and this privacy loss.", "Use a smaller beta."
    ),
    "smooth-alpha-wrong": Text("alpha must be a rational above 0 for {family}."),
    "smooth-beta-inadmissible": Text(
        "beta: no noise is admissible at {beta:.6g}; it must be below {largest:.6g}.",
        "Use a smaller beta, or let best_beta() choose.",
    ),
    "smooth-beta-not-positive": Text("beta must be a number above 0, not {beta}."),
    "smooth-beta-too-large": Text(
        "beta must be below {largest:.6g} for {family} at this privacy loss, not {beta:.6g}.",
        "Use a smaller beta; best_beta() finds one.",
    ),
    "smooth-delta-too-small": Text("delta must be at least 1e-300.", "Leave it out for a pure-DP noise."),
    "smooth-families-wrong": Text(
        "families must be one or more families of admissible noise.",
        "Give some, such as [PolyPlace()], or leave it out for all that the privacy loss allows.",
    ),
    "smooth-gamma-out-of-range": Text(
        "gamma must be from {least} to {most}.",
        "Closer to 1 the noise is too large to be useful; 3 to 6 are good choices.",
    ),
    "smooth-noise-wrong": Text("noise must be a family of admissible noise, such as PolyPlace()."),
    "smooth-price-missing": Text("The privacy loss is missing.", "Give epsilon, epsilon and delta, or rho."),
    "smooth-price-needs-delta": Text(
        "{family} needs epsilon and delta.", "Give both, or use a pure-DP family such as PolyPlace()."
    ),
    "smooth-price-needs-rho": Text(
        "{family} needs rho (zCDP).", "Give rho, or use a pure-DP family such as PolyPlace()."
    ),
    "smooth-price-out-of-range": Text(
        "{name} must be from {least:g} to {most:g} for admissible noise.",
        "Outside this range the noise is useless or negligible.",
    ),
    "smooth-price-too-small": Text("epsilon or delta is too small for {family}().", "Use PolyPlace()."),
    "smooth-statistic-wrong": Text(
        "statistic must be a Statistic.", "Use Median of jali.mechanisms, for example."
    ),
    "sparse-answers-unpaid": Text("Without epsilon_answers, values are not released.", "Give epsilon_answers=."),
    "sparse-queries-too-large": Text("queries must be at most 1e300."),
    "sparse-value-not-one": Text("Each question needs one value, and the threshold must be one number."),
    "sparse-values-not-a-sequence": Text("values must be a sequence of numbers, one per question."),
    "spread-too-large": Text("spread is so large that there are more than 2**62 positions.", "Use a larger step."),
    "stable-function-wrong": Text("function must be a function of a tuple of rows, not {kind}."),
    "stable-mode-table-wrong": Text("table must be a list of categories, or a mapping of categories to numbers."),
    "stable-rows-not-hashable": Text("rows must be a list of hashable rows."),
    "stable-rows-repeated": Text("rows must be distinct, and there must be at least one."),
    "stable-rows-wrong": Text("rows must be a list of hashable rows, not {kind}."),
    "stable-table-wrong": Text("table must be a list of rows, not {kind}."),
    "stable-value-not-a-pair": Text(
        "The value must be a pair (answer, distance), where distance is a whole number of row changes."
    ),
    "staircase-steps-wrong": Text(
        "sensitivity must be at most 2**60 steps, and epsilon at least 2**-60.", "Give a larger step or epsilon."
    ),
    "staircase-treads-wrong": Text("tread and period must be whole numbers, 1 <= tread <= period <= 2**60."),
    "statistic-needs-replace-one": Text(
        "adjacency: under add-remove the number of people is private, so a {statistic} does not have sensitivity 1/n.",
        "Release the sum or count and the number of people and divide them, or declare replace-one.",
    ),
    "statistic-wrong": Text("statistic must be a Statistic, not {statistic!r}."),
    "step-too-large-for-range": Text("step is so large that the range has fewer than two grid points."),
    "step-too-small": Text("step is so small that there are more than 2**{bits} grid points.", "Use {mechanism}."),
    "step-too-small-for-marks": Text("step is so small that the range has more than {most} grid points."),
    "step-too-small-for-points": Text("step is so small that there are more than 2**60 points."),
    "step-too-small-for-range": Text("step is so small that the range has more than 2**60 grid points."),
    "strategy-for-thresholds": Text("strategy 'square-root' only supports Thresholds.", "Use strategy='optimal'."),
    "strategy-goal-unknown": Text("by must be 'rms' or 'largest', not {by!r}."),
    "strategy-too-many-cells": Text("strategy 'optimal' supports at most {most} cells."),
    "strategy-unknown": Text("strategy must be 'optimal' or 'square-root', not {strategy!r}."),
    "table-not-measured": Text("A table that is not measured has no noise distribution."),
    "test-epsilon-out-of-range": Text(
        "{name} must be from 2**-40 to 2**9 for the test.", "Choose another {name}."
    ),
    "top-k-mechanism-unknown": Text("mechanism must be 'joint' or 'gumbel', not {mechanism!r}."),
    "top-k-too-few-candidates": Text("k is {k}, but there are only {count} candidates."),
    "top-k-too-few-keys": Text("k is {k}, but there are only {count} keys."),
    "total-not-public": Text("A total is public only under replace-one adjacency.", "Leave total= out."),
    "trim-out-of-range": Text("trim must be at least 0 and below 1/2, not {trim}."),
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
        "A watch cannot be copied or stored, because its noise must not be reused.",
        "Start another watch, which spends its own loss.",
    ),
    "watch-other-process": Text("A watch belongs to the process that started it.", "Start another here."),
    "watch-positives-used-up": Text(
        "The limit of positive answers is reached: {positives} of {positives} values were above the threshold.",
        "Start another watch, which spends its own loss.",
    ),
    "weighted-marks-differ": Text("value must have one weight per grid point."),
    "weighted-marks-not-a-pair": Text("value must be a pair: grid points, and the weight at each of them."),
    "weighted-offset-out-of-range": Text("offset must be from -2**60 to 2**60 units of weight."),
    "weighted-sensitivity-out-of-range": Text("sensitivity must be from 1e-80 to 1e80 units of weight."),
    "workload-answer-out-of-range": Text(
        "answer must be below {size}, not {answer}: answers are numbered from 0."
    ),
    "workload-measures-answers": Text("This mechanism measures the answers, not the cells."),
    "workload-not-a-sequence": Text("{name}: {value!r} is not a sequence.", "For example {name}={example}."),
    "workload-not-linear": Text("workload must be a Histogram, Thresholds or Ranges, not {value!r}."),
    "workload-not-marginals": Text("workload must be Marginals, not {workload!r}."),
    "workload-too-few-cells": Text("workload must have two cells or more."),
    "workload-too-large": Text("The workload is too large to list.", "Ask for single answers."),
    "workload-total-only": Text("workload only asks for the public total."),
    "workload-wrong": Text("workload must be a workload, not {value!r}.", "For example Thresholds(64)."),
}
