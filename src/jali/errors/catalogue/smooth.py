"""Texts about smooth sensitivity."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "degrees-too-many": Text("degrees must be at most {most}.", "The law is all but normal there; take 3 to 8."),
    "lecture-epsilon-too-large": Text("epsilon must be at most 1 for the lecture's constants, not {epsilon}."),
    "lecture-without-constants": Text("family: the lecture has no constants for {family!r}."),
    "smooth-alpha-without-noise": Text(
        "alpha: there is no noise at this beta and this price.", "Take a smaller beta."
    ),
    "smooth-alpha-wrong": Text("alpha must be a rational above 0 for {family}."),
    "smooth-beta-inadmissible": Text(
        "beta: no noise is admissible at {beta:.6g}; it must be below {largest:.6g}.",
        "Take a smaller beta, or let best_beta() choose.",
    ),
    "smooth-beta-not-positive": Text("beta must be a number above 0, not {beta}."),
    "smooth-beta-too-large": Text(
        "beta must be below {largest:.6g} for {family} at this price, not {beta:.6g}.",
        "Take a smaller beta; best_beta() finds one.",
    ),
    "smooth-delta-too-small": Text("delta must be at least 1e-300.", "Leave it out: a pure noise has none."),
    "smooth-families-wrong": Text(
        "families must be one or more families of admissible noises.",
        "Give some, such as [PolyPlace()], or leave it out for all that the price allows.",
    ),
    "smooth-gamma-out-of-range": Text(
        "gamma must be from {least} to {most}.",
        "Nearer to 1 the noise is too huge to be of use; 3 to 6 are good choices.",
    ),
    "smooth-noise-wrong": Text("noise must be a family of admissible noises, such as PolyPlace()."),
    "smooth-price-missing": Text("A price needs epsilon or rho.", "Give epsilon, epsilon and delta, or rho."),
    "smooth-price-needs-delta": Text(
        "{family} needs a price of epsilon and delta.", "Give both, or take a pure family such as PolyPlace()."
    ),
    "smooth-price-needs-rho": Text(
        "{family} needs a price in rho (zCDP).", "Give rho, or take a pure family such as PolyPlace()."
    ),
    "smooth-price-out-of-range": Text(
        "{name} must be from {least:g} to {most:g} for admissible noise.",
        "Beyond, the noise is of no use, or there is next to none.",
    ),
    "smooth-price-too-small": Text("epsilon or delta is too small for {family}().", "Take PolyPlace()."),
    "smooth-statistic-wrong": Text("statistic must be a Statistic.", "Take Median of jali.mechanisms."),
    "step-too-small-for-marks": Text("step is so small that the range has more than {most} marks."),
    "trim-out-of-range": Text("trim must be at least 0 and below 1/2, not {trim}."),
}
