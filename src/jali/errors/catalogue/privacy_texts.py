"""Texts about losses, budgets, accountants, and parameters in general."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "bounds-not-rising": Text("{low} must be below {high}."),
    "budget-not-a-budget": Text("budget is not a Budget: {budget!r}.", "Give Budget(epsilon, delta)."),
    "categories-too-few": Text("categories must be at least 2, not {categories}."),
    "composition-no-distribution": Text("The privacy-loss distribution does not apply to {losses!r}: {reason}."),
    "composition-no-epsilon": Text(
        "No theorem gives {losses!r} an epsilon at this delta.",
        "Choose a larger delta; .table(delta) shows what each theorem needs.",
    ),
    "composition-parameters-unknown": Text("parameters must be 'declared' or 'adaptive', not {parameters!r}."),
    "confidence-not-between-zero-and-one": Text(
        "confidence must be a number strictly between 0 and 1, not {confidence!r}.", "Give 0.95."
    ),
    "confidence-out-of-range": Text(
        "{name} must lie between 0 and 1, not {confidence}.", "Give 0.95, for example."
    ),
    "delta-below-loss": Text(
        "{name} {delta:above} is too small for {loss!r}: no epsilon is finite there.",
        "Choose a larger delta.",
    ),
    "delta-events-too-large": Text("delta_events must be at most delta."),
    "delta-too-small": Text("{name} must be at least 1e-300."),
    "delta-with-rho": Text("delta can be combined with epsilon, not with rho."),
    "distribution-no-filter": Text(
        "A privacy-loss distribution cannot act as a filter: it needs all losses to be fixed in advance.",
        "Charge the whole batch at once as a fixed (epsilon, delta): .at(delta).",
    ),
    "distribution-no-parts": Text("parts is empty.", "Give at least one loss."),
    "distribution-parts-wrong": Text(
        "parts must be losses or (loss, count) pairs, not {part!r}.", "For example [(Pure(0.1), 100)]."
    ),
    "epsilon-or-rho": Text("Give either epsilon or rho, not both."),
    "error-whole": Text("{problem}{has_remedy:? {problem:remedy}|}"),
    "finite-answers-too-few": Text("answers must be at least 2."),
    "finite-kernel-wrong": Text("kernel must have one row per outcome, {count} in total."),
    "finite-kinds-differ": Text("p and q must both be dictionaries, or both sequences."),
    "finite-matrix-wrong": Text("matrix must have at least two rows, all of the same length."),
    "finite-neighbours-wrong": Text("neighbours must be pairs of two different rows, numbered 0 to {last}."),
    "finite-outcomes-differ": Text("p and q must list the same outcomes, not {left} and {right}."),
    "finite-sum-wrong": Text(
        "{name} must sum to 1, not {total:decimal12}.", "Give Fractions or texts such as '1/3'."
    ),
    "gaussian-without-delta": Text("{name} must be above 0 for Gaussian noise.", "Give a delta such as 1e-6."),
    "group-delta-by-epsilon": Text(
        "The group's loss has a delta that depends on epsilon.", "Charge one of its points: .at(delta)."
    ),
    "group-without-guarantee": Text(
        "A group of size {size} has no (epsilon, delta) guarantee: its delta would be 1 or more.",
        "Take a smaller group or a smaller delta.",
    ),
    "high-below-low": Text("high must not be below low."),
    "loss-epsilon-infinite": Text(
        "{loss!r} has outcomes that are possible for only one neighbour, so its epsilon is infinite.",
        "Charge one of its points, .at(delta), with delta at least {delta}.",
    ),
    "loss-has-delta": Text(
        "{loss!r} has its own delta.", "Use ApproximateOdometer, which reserves a share of delta."
    ),
    "loss-not-a-loss": Text("loss must be a loss, not {value!r}.", "For example Pure(0.1)."),
    "loss-not-pure": Text(
        "{loss!r} is not pure DP, so no bound holds with certainty.",
        "Use ApproximateOdometer or ConcentratedOdometer, which have a delta.",
    ),
    "loss-replace-one-already": Text("{name} of the loss is already 'replace-one'.", "Use the loss as it is."),
    "loss-without-distribution": Text(
        "{loss!r} has no privacy-loss distribution.",
        "Use the loss of a mechanism such as GaussianLoss, or compose(...), which takes any loss.",
    ),
    "losses-adjacency-differs": Text(
        "{name} differs: one loss holds for 'add-remove', another for 'replace-one'.",
        "State all losses for the same adjacency; replace_one(loss) converts one from add-remove.",
    ),
    "losses-not-losses": Text(
        "losses must be losses or (loss, count) pairs, not {loss!r}.", "For example Pure(0.1)."
    ),
    "nothing-is-largest": Text("losses is empty, so there is no largest.", "Give at least one loss."),
    "nothing-to-choose-from": Text("{name} must not be empty: there is nothing to choose from."),
    "nothing-to-compose": Text("losses is empty: there is nothing to compose.", "Give at least one loss."),
    "number-too-extreme": Text(
        "{name} is beyond the range of numbers.", "Give a number between 1e-300 and 1e300 in size."
    ),
    "odometer-delta-zero": Text("{name} must be above 0.", "Without a delta, use PureOdometer()."),
    "parallel-adjacency-differs": Text("{name} is {adjacency!r}, but the losses hold for another adjacency."),
    "parallel-no-parts": Text("losses is empty: there are no parts.", "Give the loss of at least one part."),
    "parallel-not-losses": Text("losses must be losses, one for each part.", "For example [Pure(0.1)]."),
    "parallel-value-replace-one": Text(
        "With a value partition and adjacency 'replace-one', a row may move from one part to another, which losses for 'replace-one' do not cover.",
        "Give losses for adjacency 'add-remove', or use an index partition.",
    ),
    "parameter-above-limit": Text("{name} must be at most {most:,}, not {value}."),
    "parameter-below-one": Text("{name} must be at least 1, not {value}."),
    "parameter-below-zero": Text("{name} must be at least 0, not {value}."),
    "parameter-not-a-column": Text("{name} must be a list or a one-dimensional array."),
    "parameter-not-a-count": Text("{name} must be a whole number of at least 1, not {value}."),
    "parameter-not-a-list": Text("{name} must be a list or an array, not {kind}."),
    "parameter-not-a-list-of-integers": Text("{name} must be a list or an array of integers."),
    "parameter-not-a-list-of-numbers": Text("{name} must be a list or an array of numbers, not {kind}."),
    "parameter-not-a-plain-array": Text("{name} must be numbers in a plain array, not {kind}."),
    "parameter-not-a-range": Text("{name} must be a range: (low, high), not {value!r}."),
    "parameter-not-a-share": Text("{name} must be a number strictly between 0 and 1, not {value!r}."),
    "parameter-not-above-one": Text("{name} must be above 1, not {value}."),
    "parameter-not-among": Text("{name} must be {choices!r:* or }, not {value!r}."),
    "parameter-not-below-one": Text("{name} must be below 1, not {value}."),
    "parameter-not-below-one-from-zero": Text("{name} must be in [0, 1), not {value}."),
    "parameter-not-between-zero-and-one": Text("{name} must be between 0 and 1, not {value}."),
    "parameter-not-boolean": Text("{name} must be True or False, not {value!r}."),
    "parameter-not-finite": Text(
        "{name} is not a finite number: {value!r}.",
        "Give a number such as 0.5 or '1/3'.",
        command_line=Words(remedy="Give a number such as 0.5 or 1/3."),
    ),
    "parameter-not-integers": Text("{name} must be integers."),
    "parameter-not-numbers": Text("{name} must be numbers, not {kind}."),
    "parameter-not-one-dimensional": Text("{name} must be a list or an array of one dimension."),
    "parameter-not-one-of": Text("{name} must be one of {choices}, not {value!r}."),
    "parameter-not-positive": Text("{name} must be above 0, not {value}.", "Give a number such as 0.1."),
    "parameter-not-positive-integer": Text("{name} must be an integer, at least 1, not {value!r}."),
    "parameter-not-rational": Text(
        "{name} must be an exact rational (int or Fraction), not {kind} {value!r}.", "Write {name}=Fraction(...)."
    ),
    "parameter-not-strictly-between-zero-and-one": Text("{name} must be above 0 and below 1, not {value}."),
    "parameter-not-whole": Text("{name} must be a whole number of at least {least}, not {value!r}."),
    "parameter-out-of-powers": Text("{name} must be above 0 and at most 2**{bits}, not {value}."),
    "parameter-over-most": Text("{name} must be at most {most}."),
    "parameter-too-large": Text("{name} must be at most {most}, not {value}."),
    "partition-kind-unknown": Text("partition must be 'index' or 'value', not {partition!r}."),
    "planned-accuracy-too-dear": Text("{name} needs an epsilon above 1e9.", "Accept a larger error."),
    "planned-count-too-large": Text("{name} must be at most {most:,} to plan with, not {value}."),
    "planned-delta-too-small": Text("{name} is too small for this epsilon.", "Choose a larger delta or epsilon."),
    "planned-epsilon-out-of-range": Text("{name} must be between 1e-12 and 1e9 to plan with, not {epsilon:.3g}."),
    "planned-k-and-accuracy": Text(
        "Give either k or accuracy; the other one is computed.",
        "For the least epsilon that satisfies both, use least_epsilon(k, accuracy).",
    ),
    "planned-number-out-of-range": Text("{name} must be between 1e-30 and 1e30 to plan with, not {value}."),
    "planned-stddev-simultaneous": Text(
        "simultaneous has no effect on a standard deviation.", "Give a confidence such as 0.95."
    ),
    "postprocessing-no-function": Text("function must be a function of the release."),
    "postprocessing-no-mechanism": Text(
        "mechanism must have a loss and a release.", "For example Laplace(sensitivity=1, epsilon=0.1)."
    ),
    "renyi-empty": Text("divergences is empty.", "Give a divergence for at least one order above 1."),
    "renyi-not-a-mapping": Text("divergences must be a mapping.", "For example Renyi({{2: 0.1, 3: 0.2}})."),
    "renyi-not-charged": Text(
        "A Rényi curve cannot be charged to a budget as it is.",
        "Charge the losses it is composed of, or one of its points: .at(delta).",
    ),
    "response-probability-out-of-range": Text(
        "probability must be above 1/categories and below 1, not {probability}."
    ),
    "rule-not-a-filter": Text("rule must be a filter, not {rule!r}.", "For example Filter(Budget(1))."),
    "slack-out-of-range": Text(
        "slack must be above 0 and at most delta.", "Without a delta, use PureFilter(epsilon)."
    ),
    "subsampled-loss-two-sided": Text(
        "loss must have the same privacy-loss distribution in both directions; {loss!r} does not.",
        "Subsample a mechanism such as GaussianLoss, LaplaceLoss, Pure or BoundedRange.",
    ),
    "subsampling-adjacency-wrong": Text(
        "{name} does not fit: {sampling} sampling is not analysed for {adjacency} neighbours.",
        "Use sampling='{other_sampling}', or adjacency='{other_adjacency}'.",
    ),
    "subsampling-rate-zero": Text("rate must be above 0."),
}
