"""Texts about workloads."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "consistency-row-wrong": Text("Give one row of finite numbers, at least one, below 1e300 in size."),
    "consistency-total-wrong": Text("total must be a finite number of at least 0, not {total!r}."),
    "consistency-weights-wrong": Text("weights must be above 0, one for each value."),
    "fanout-malformed": Text("fanout must be a whole number or several, not {fanout!r}."),
    "fanout-too-small": Text("fanout {fanout!r} makes fewer than {cells} leaves."),
    "grain-too-coarse": Text("grain is too coarse: the strategy cannot be inverted."),
    "grouping-sets-cells-wrong": Text("Table {index} must have {cells} cells."),
    "grouping-sets-columns-wrong": Text("sets must name columns from 0 to {last}."),
    "grouping-sets-malformed": Text("sets must be at least one, each with the numbers of its columns, rising."),
    "grouping-sets-sizes-wrong": Text("sizes must be at least 1.", "Declare at least one key for each column."),
    "grouping-sets-table-uncovered": Text("A table that is not measured must be part of one that is."),
    "grouping-sets-too-many": Text("Too many grouping sets.", "Ask for fewer at once."),
    "grouping-sets-variances-wrong": Text("variances must be numbers of at least 0, one for each set."),
    "histogram-wrong": Text("The histogram must be {cells} integers, one for each cell."),
    "marginal-weights-wrong": Text("weights must be {count} numbers, one for each marginal, not {weights!r}."),
    "marginals-law-unlisted": Text("The law is listed for marginals of single attributes with two values only."),
    "marginals-sets-wrong": Text("sets must name attributes by their numbers, from 0, and at least one marginal."),
    "power-out-of-range": Text("power must be above 0 and at most 1/2, not {power!r}."),
    "strategy-for-thresholds": Text("strategy 'square-root' is for Thresholds.", "Take strategy='optimal'."),
    "strategy-goal-unknown": Text("by must be 'rms' or 'largest', not {by!r}."),
    "strategy-too-many-cells": Text("strategy 'optimal' is for at most {most} cells."),
    "strategy-unknown": Text("strategy must be 'optimal' or 'square-root', not {strategy!r}."),
    "table-not-measured": Text("A table that is not measured has no law."),
    "total-not-public": Text("A total is public under replace-one adjacency only.", "Leave total= out."),
    "workload-answer-out-of-range": Text("answer must be below {size}, not {answer}: they count from 0."),
    "workload-measures-answers": Text("This mechanism measures the answers, not the cells."),
    "workload-not-a-sequence": Text("{name}: {value!r} is not a sequence.", "For example {name}={example}."),
    "workload-not-linear": Text("workload must be a Histogram, Thresholds or Ranges, not {value!r}."),
    "workload-not-marginals": Text("workload must be Marginals, not {workload!r}."),
    "workload-too-few-cells": Text("workload must have two cells or more."),
    "workload-too-large": Text("The workload is too large to be written out.", "Ask for single answers."),
    "workload-total-only": Text("workload asks for the public total only."),
    "workload-wrong": Text("workload must be a workload, not {value!r}.", "For example Thresholds(64)."),
}
