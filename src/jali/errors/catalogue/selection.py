"""Texts about selection."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "best-not-a-sensitivity": Text("best must be one of the sensitivities, not {best}."),
    "candidates-too-many": Text("candidates must be at most 2**53."),
    "closed-side-unknown": Text("closed must be 'left' or 'right', not {closed!r}."),
    "piecewise-entries-wrong": Text("{name} must have one entry more than breaks."),
    "score-not-piecewise": Text("IntervalExponential takes a Piecewise score."),
    "scores-as-mapping": Text(
        "{name} must be a list or an array of numbers, not a mapping.",
        "heavy_hitter and top_k take mappings; here give list(mapping.values()).",
    ),
    "scores-not-exact": Text(
        "{name} must be exact: integers or Fractions, not {kind}.",
        "Give `step=` to round real numbers to a lattice.",
    ),
    "selection-noise-unknown": Text("noise must be 'exponential', 'gumbel' or 'laplace', not {noise!r}."),
    "selection-scale-too-large": Text(
        "sensitivity/epsilon, the scale of the noise, must be at most 10^300: its error could not be told.",
        "Count scores in a larger unit, or spend more epsilon.",
    ),
    "sensitivities-not-a-list": Text("sensitivities must be a list of numbers, not {sensitivities!r}."),
    "sensitivities-unlike-scores": Text(
        "There are {sensitivities} sensitivities and {scores} scores: give one for each."
    ),
    "step-too-small-for-points": Text("step is so small that there are more than 2**60 points."),
    "top-k-too-few-candidates": Text("k is {k}, and there are {count} candidates only."),
}
