"""Texts about quantiles."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "growth-too-small": Text("growth must be at least {least}, not {value}."),
    "quantile-epsilon-out-of-range": Text("epsilon must be from {least:.0e} to {most:.0e}."),
    "quantiles-malformed": Text("at must be a list of quantiles from 0 to 1.", "Give at=(0.25, 0.5, 0.75)."),
    "quantiles-not-rising": Text(
        "at must be in rising order, without repetitions.", "They are read to six digits or so."
    ),
    "spread-too-large": Text("spread is so large that there are more than 2**62 places.", "Give a wider step."),
    "step-too-small": Text("step is so small that there are more than 2**{bits} marks.", "Take {mechanism}."),
    "weighted-marks-differ": Text("value must have as many weights as marks."),
    "weighted-marks-not-a-pair": Text("value must be a pair: marks, and the weight at each of them."),
    "weighted-offset-out-of-range": Text("offset must be from -2**60 to 2**60 units of weight."),
    "weighted-sensitivity-out-of-range": Text("sensitivity must be from 1e-80 to 1e80 units of weight."),
}
