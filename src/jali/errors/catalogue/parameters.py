"""Texts about parameters in general."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
    "bounds-not-rising": Text("{low} must be below {high}."),
    "budget-not-a-budget": Text("budget is not a Budget: {budget!r}.", "Give Budget(epsilon, delta)."),
    "categories-too-few": Text("categories must be at least 2, not {categories}."),
    "confidence-not-between-zero-and-one": Text(
        "confidence must be a number strictly between 0 and 1, not {confidence!r}.", "Give 0.95."
    ),
    "confidence-out-of-range": Text(
        "{name} must lie between 0 and 1, not {confidence}.", "Give 0.95, for example."
    ),
    "delta-too-small": Text("{name} must be at least 1e-300."),
    "delta-with-rho": Text("delta goes with epsilon, not with rho."),
    "epsilon-or-rho": Text("Give either epsilon or rho, one of them."),
    "error-whole": Text("{problem}{has_remedy:? {problem:remedy}|}"),
    "high-below-low": Text("high must not be below low."),
    "nothing-to-choose-from": Text("{name} must not be empty: there is nothing to choose from."),
    "number-too-extreme": Text(
        "{name} is beyond the range of numbers.", "Give a number between 1e-300 and 1e300 in size."
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
}
